"""Histories in mqproof's own format that strangers wrote: tables, columns and facts that they left
out, faults that their records do not bear out. What must be said follows from docs/verdicts.md 14
and harness/histories/README.md: what a history does not contain is unknown."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from harness.analyse.history import WORDS, evidence
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, judge
from harness.histories import neutral
from harness.plan.problems import PlanError
from tests.rigs.defects.runs import history as written
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    CORRUPT,
    DELIVERED,
    ELECTION,
    FIFO,
    HELD,
    MISROUTED,
    OF_MIRRORS,
    ONE_COPY,
    SERVED,
    STEADY,
    TAKEN_OVER,
    UNACKED,
    UNEXPECTED,
)
from tests.rigs.histories.sketches import Sketch, calm, failover

Document = dict[str, Any]
Edit = Callable[[Document], object]


@dataclass(frozen=True)
class Gap:
    """A history, what its writer changed, and what must be said; names of claims in one text.
    `open`: neither PASS nor FAIL."""

    why: str
    make: Callable[[], Sketch]
    edit: Edit
    fails: str = ""
    passes: str = ""
    open: str = ""

    def __str__(self) -> str:
        return self.why

    def document(self) -> Document:
        document = neutral.to_json(written(self.make().as_run()))
        self.edit(document)
        return document

    def differences(self) -> Iterator[str]:
        history = neutral.parse(json.dumps(self.document()), "h.json", WORDS)
        found = evidence(history, "h")
        verdicts = {claim.name: judge(claim, found) for claim in shipped()}
        failed = {
            it.claim
            for it in verdicts.values()
            if it.is_promise and it.outcome is ClaimOutcome.FAIL
        }
        if failed != {*self.fails.split()}:
            yield f"FAIL of {sorted(failed)}"
        for name in self.passes.split():
            if verdicts[name].outcome is not ClaimOutcome.PASS:
                yield f"{name} is {verdicts[name].outcome}"
        for name in self.open.split():
            if verdicts[name].outcome in (ClaimOutcome.PASS, ClaimOutcome.FAIL):
                yield f"{name} is {verdicts[name].outcome}"


def fact(**values: object) -> Edit:
    return lambda it: it["facts"].update(values)


def no_fact(*names: str) -> Edit:
    def edit(document: Document) -> None:
        for name in names:
            del document["facts"][name]

    return edit


def no_table(*names: str) -> Edit:
    def edit(document: Document) -> None:
        for name in names:
            del document["tables"][name]

    return edit


def empty(name: str) -> Edit:
    """The table is there, and nothing happened."""

    def edit(document: Document) -> None:
        names = document["tables"][name]["columns"]
        document["tables"][name] = {"rows": 0, "columns": {each: [] for each in names}}

    return edit


def column(table: str, **values: object) -> Edit:
    return lambda it: it["tables"][table]["columns"].update(values)


def no_column(table: str, name: str) -> Edit:
    def edit(document: Document) -> None:
        del document["tables"][table]["columns"][name]

    return edit


def of_window(**values: object) -> Edit:
    return lambda it: it["facts"]["windows"][0].update(values)


def no_more_of_window(*names: str) -> Edit:
    def edit(document: Document) -> None:
        for name in names:
            document["facts"]["windows"][0].pop(name)

    return edit


def steps(*rows: tuple[str, float, int]) -> Edit:
    """Steps of the fault: what, at which second, and whether it succeeded."""
    events, seconds, oks = zip(*rows, strict=True)
    columns = {"window": 1, "event": [*events], "at_ns": [round(it * 1e9) for it in seconds]}
    table = {"rows": len(rows), "columns": {**columns, "ok": [*oks]}}
    return lambda it: it["tables"].update(faults=table)


def lossy() -> Sketch:
    sketch = calm(30_000)
    sketch.lose(100)
    return sketch


def lossy_failover() -> Sketch:
    sketch = failover()
    sketch.lose(149)
    return sketch


def out_until_the_undo() -> Sketch:
    return failover(36_050)


def nothing(document: Mapping[str, Any]) -> None:
    """Leave it as it is."""


OF_MESSAGES = f"{DELIVERED} {UNEXPECTED} {ONE_COPY} {ACKED}"
GAPS = [
    Gap("nothing is left out", calm, nothing, passes=f"{OF_MESSAGES} {STEADY} {CONSUMED} {FIFO}"),
    Gap("one is lost, and nothing is left out", lossy, nothing, DELIVERED),
    Gap("a fault, and nothing is left out", failover, nothing, passes=f"{TAKEN_OVER} {AFTER}"),
    # Whole tables: their writer records nothing of them.
    Gap("no settlements", calm, no_table("settlements"), open=f"{DELIVERED} {STEADY} {CONSUMED}"),
    Gap("no deliveries", calm, no_table("deliveries"), open=f"{OF_MESSAGES} {CONSUMED} {FIFO}"),
    Gap("no attempts", calm, no_table("attempts", "settlements"), open=f"{OF_MESSAGES} {STEADY}"),
    Gap("no acknowledgements", calm, no_table("acknowledgements"), passes=DELIVERED, open=ACKED),
    Gap("no client events", failover, no_table("client_events"), passes=HELD, open=UNACKED),
    Gap("no client events, one lost", lossy, no_table("client_events"), DELIVERED),
    Gap(
        "no settlements beside a fault",
        failover,
        no_table("settlements"),
        open=f"{DELIVERED} {TAKEN_OVER} {AFTER}",
    ),
    Gap("no settlement at all happened", calm, empty("settlements"), STEADY, open=DELIVERED),
    Gap("no delivery at all happened", calm, empty("deliveries"), DELIVERED),
    # Workers and queues.
    Gap("no workers", calm, no_fact("workers"), passes=DELIVERED, open=f"{UNEXPECTED} {STEADY}"),
    Gap("no workers, one missing", lossy, no_fact("workers"), open=DELIVERED),
    Gap("no ends of queues", calm, no_fact("queues"), passes=DELIVERED, open=f"{ONE_COPY} {FIFO}"),
    Gap("no ends of queues, one missing", lossy, no_fact("queues"), open=DELIVERED),
    # Columns.
    Gap(
        "no publish was intended for a time",
        failover,
        column("attempts", intended_ns=None),
        passes=DELIVERED,
        open=f"{TAKEN_OVER} {AFTER}",
    ),
    Gap(
        "flags are not reported",
        calm,
        column("deliveries", redelivered=None),
        passes=DELIVERED,
        open=FIFO,
    ),
    Gap(
        "queues of deliveries are left out", calm, no_column("deliveries", "queue"), open=MISROUTED
    ),
    Gap(
        "levels of confirms are left out",
        calm,
        no_column("settlements", "strength"),
        passes=DELIVERED,
    ),
    # Times of the load.
    Gap(
        "the load is said to end before the fault",
        out_until_the_undo,
        fact(load_ended_ns=10 * 10**9),
        open=f"{TAKEN_OVER} {AFTER}",
    ),
    Gap(
        "the load ends while the fault is in force",
        out_until_the_undo,
        fact(load_ended_ns=30 * 10**9),
        f"{SERVED}",
        open=AFTER,
    ),
    # Faults.
    Gap(
        "the fault is not said to be verified",
        failover,
        no_more_of_window("verified", "gone"),
        open=f"{DELIVERED} {TAKEN_OVER} {AFTER} {STEADY}",
    ),
    Gap(
        "not verified, and one is lost",
        lossy_failover,
        no_more_of_window("verified", "gone"),
        DELIVERED,
        open=f"{ELECTION} {TAKEN_OVER}",
    ),
    Gap("verified, and one is lost", lossy_failover, nothing, f"{DELIVERED} {OF_MIRRORS}"),
    Gap(
        "the end of the fault is left out",
        failover,
        no_more_of_window("ended_ns", "gone", "over_ns"),
        open=f"{AFTER} {CONSUMED_AFTER} {DELIVERED}",
    ),
    Gap(
        "the fault is of a kind that mqproof does not have",
        failover,
        of_window(kind="io-delay"),
        passes=f"{DELIVERED} {AFTER}",
        open=f"{TAKEN_OVER} {ELECTION}",
    ),
    Gap(
        "it was seen active only after its end",
        failover,
        steps(("verified", 36, 1), ("undo_issued", 35, 1), ("gone", 36, 1)),
        open=f"{DELIVERED} {TAKEN_OVER} {AFTER}",
    ),
    Gap(
        "a second look saw it active",
        failover,
        steps(("verified", 15.1, 0), ("verified", 16, 1), ("undo_issued", 35, 1), ("gone", 36, 1)),
        passes=f"{DELIVERED} {TAKEN_OVER} {AFTER}",
    ),
    Gap(
        "its action failed",
        failover,
        steps(("returned", 15.1, 0), ("verified", 16, 1), ("undo_issued", 35, 1)),
        open=f"{DELIVERED} {TAKEN_OVER} {AFTER}",
    ),
    Gap(
        "its undo failed, and all is out for good",
        lambda: failover(60_000),
        steps(("undo_issued", 35, 1), ("undo_returned", 35.02, 0)),
        open=f"{TAKEN_OVER} {AFTER} {DELIVERED}",
    ),
    # Declarations.
    Gap("nothing is declared", calm, lambda it: it["declared"].clear(), passes=CORRUPT),
    Gap(
        "nothing is declared, and one is lost",
        lossy,
        lambda it: it["declared"].clear(),
        open=DELIVERED,
    ),
]


@pytest.mark.parametrize("one", GAPS, ids=str)
def test_a_history_with_gaps_is_judged_as_argued(one: Gap) -> None:
    assert [*one.differences()] == []


WRONG: list[tuple[Edit, str]] = [
    (fact(confirms=False), "declared.confirms: it is true, and facts.confirms is false"),
    (no_fact("deadline_ns"), "facts: deadline_ns is missing"),
    (no_column("deliveries", "via"), "via"),
    (column("settlements", outcome="acked"), "settlements.outcome: 'acked' is not one of"),
    (of_window(ended_ns=10**9), "facts.windows[0]"),
]


@pytest.mark.parametrize(("edit", "said"), WRONG, ids=range(len(WRONG)))
def test_a_history_that_contradicts_itself_is_refused(edit: Edit, said: str) -> None:
    document = Gap("", failover, edit).document()
    with pytest.raises(PlanError) as found:
        neutral.parse(json.dumps(document), "h.json", WORDS)
    assert said in str(found.value)
