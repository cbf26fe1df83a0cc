"""Logs by hand: a steady load of two places, in which everything is right except what a test says.

1. Message n is sent at n * 100 ms, confirmed 3 ms, delivered 6 ms and acknowledged 10 ms later.
2. What a test writes itself is left out of the load (`own`); its place and offset stay reserved.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Self

from harness.analyse.history import evidence, state
from harness.analyse.questions import question
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, judge
from harness.histories.history import FactValue
from harness.histories.history import History as Recorded
from tests.rigs.histories.both_judges import judged_by_both
from tests.rigs.histories.by_hand import CONSUMER, History, counts
from tests.rigs.histories.declared import LASTING
from tests.rigs.histories.ways import Via

PLACES = "broker-a/0", "broker-b/0"
EVERY_MS, MESSAGES = 100, 300
AUDITOR = 9
DECLARED: Mapping[str, FactValue] = {
    **LASTING,
    "copies": 2,
    "masters": 2,
    "elects": False,
    "route_poll_s": 30,
    "processing_s": 0.0,
    "priorities": 0,
    "consumers": 1,
    "faults": 0,
}
Came = Callable[[int, float], float]  # when a message comes that was sent then


class LogHistory:
    """A history of one log. `history` has the rest of its story."""

    def __init__(
        self,
        *,
        own: Collection[int] = (),
        unacknowledged: Collection[int] = (),
        places: tuple[str, ...] = PLACES,
        connection: Callable[[int], int] = lambda _: 1,
        came_ms: Came = lambda _, at_ms: at_ms + 6,
        ordered: bool = False,
    ) -> None:
        self.history = History(load_ms=(0, MESSAGES * EVERY_MS), brokers_keep_progress=True)
        self.history.queue(ordered=ordered).client_event("consuming", at_ms=1)
        self._at: dict[int, dict[str, Any]] = {}
        self._tag = 10_000
        offsets = Counter[str]()
        for number in range(MESSAGES):
            place = places[number % len(places)]
            self._at[number] = {"place": place, "offset": offsets[place]}
            offsets[place] += 1
            if number in own:
                continue
            at_ms = number * EVERY_MS
            self.history.publish(number, at_ms=at_ms).confirm(number, at_ms=at_ms + 3)
            self._came(
                number,
                came_ms(number, at_ms),
                tag=number + 1,
                connection=connection(number),
                acknowledged=number not in unacknowledged,
                **self._at[number],
            )

    def came(self, number: int, at_ms: float, *, acknowledged: bool = True, **how: Any) -> Self:
        """One more delivery: at its place and offset, if `how` has no others."""
        self._tag += 1
        how = {"tag": self._tag, "connection": 1, **self._at[number], **how}
        return self._came(number, at_ms, acknowledged=acknowledged, **how)

    def audited(self) -> Self:
        """The audit reads the whole log."""
        for number, at in self._at.items():
            self.history.deliver(
                number, at_ms=50_000 + number, via=Via.AUDIT, consumer=AUDITOR, **at
            )
        return self

    def _came(self, number: int, at_ms: float, *, acknowledged: bool, **how: Any) -> Self:
        self.history.deliver(number, at_ms=at_ms, **how)
        if acknowledged:
            consumer = how.get("consumer", CONSUMER)
            self.history.acknowledge(
                how["tag"], at_ms=at_ms + 4, consumer=consumer, connection=how["connection"]
            )
        return self


def outcomes(
    story: LogHistory | History,
    declared: Mapping[str, FactValue] | None = None,
    **recorded: FactValue,
) -> dict[str, ClaimOutcome]:
    """Return the outcome of each claim. Oracle and kernels must agree."""
    history = story.history if isinstance(story, LogHistory) else story
    facts, rows = history.build()
    tables = {
        name: {column: [row[column] for row in listed] for column in listed[0]}
        for name, listed in rows.items()
        if listed
    }
    windows = {window.number: recorded for window in facts.windows}
    recording = Recorded(facts, {**DECLARED, **(declared or {})}, windows, tables)
    judged_by_both(question(state(recording)).of(facts), rows)
    found = evidence(recording, "by hand")
    return {claim.name: judge(claim, found).outcome for claim in shipped()}


def details(story: LogHistory, *measures: str) -> dict[str, int]:
    """Return the counts of these measures, as {"measure detail": count}."""
    return dict(counts(judged_by_both(*story.history.build()), *measures))
