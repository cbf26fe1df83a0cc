"""The generated histories hold what the agreement of the judges is to be about.

1. Tags say what was meant to happen; what the rows and facts must show is counted on them.
2. What the judges answer is counted elsewhere: test_agreement.py.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import pytest

from spark_analysis.schema.facts import Facts, Window
from tests.rigs.generated.histories import History, Row, Rows
from tests.rigs.histories.fixed import BY_NIGHT, HISTORIES, often, tagged_histories
from tests.rigs.histories.ways import Via

# The worker that judges them with Spark has made them already.
pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.xdist_group("spark")]

Histories = tuple[History, ...]

FAULTS = (
    *("nothing", "until the undo", "all but until the undo", "the system ends it"),
    *("a later one that the system ends", "a last one before the undo", "one in a hundred"),
    *("a second one under the fault", "again and again", "lost until the undo", "sick before"),
    *("just before", "never back", "after the undo", "after it is healed"),
)
TALES = (
    *(
        "not_redelivered",
        "acknowledged",
        "competing_leaders",
        "widow",
        "attempts",
        "misrouted",
        "delayed",
    ),
    *("before_its_time", "line", "log", "lost_nearby", "waiting"),
)
MEANT = {
    *(f"fault: {plan}" for plan in FAULTS),
    *(f"tale: {tale}" for tale in TALES),
    *(f"spell: {sort}" for sort in ("lost", "late", "held")),
    *(f"spell of {whose}" for whose in ("all", "queue", "publisher")),
    *("no load at all", "no load of one", "a consumer stops", "a queue stops"),
    *("no undo on record", "undo at an operation", "origin after the load"),
    *("gone is not on record", "gone is on record twice"),
    "gone, with an operation a deadline and a reconnect later",
    *("connection ends", "acknowledged after all", "given out again", "never given out again"),
    "connection ends a second after the acknowledgement",
    *("copy, flagged 0", "copy, flagged 1", "copy, flagged 2", "copy under rivals"),
    *("host never returns", "an attempt is never seen"),
    *("delayed, late by -1", "delayed, late by 0", "delayed, late by 1"),
    *("received before it was sent True", "received before it was sent False"),
    *(
        f"line {way} {flags}"
        for way in ("reversed", "rotated")
        for flags in ("none", "all", "mixed")
    ),
    *("log with holes", "log without holes"),
    *("lost, with a window ahead", "lost, with none ahead"),
    *(f"stalls of a twentieth and {more}" for more in (-1, 0, 1)),
    *("stalls overlap", "a stall reaches over an edge", "a stall reaches into an absence"),
}
SHOWN = {
    *("two windows at once", "windows overlap", "a window never ends", "a window is never over"),
    *("no window", "an origin after the load", "no acknowledgements", "no consumer"),
    *(f"{number} promises" for number in range(4)),
    *(f"reconnect in {after_ms} ms" for after_ms in (0, 500, 2_000)),
    *("paced", "unpaced", "without confirms", "thousands of publishes"),
    *("undo at a publish", "two undos of one window", "two ends of one window"),
    *("two publishes at once", "confirmed at the deadline", "confirmed 1 ns too late"),
    *("by the retry topic", "acknowledgements of ranges", "lost connections"),
}


@pytest.fixture(
    scope="module", params=[HISTORIES, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)]
)
def generated(request: pytest.FixtureRequest) -> Histories:
    return tagged_histories(request.param)


def test_everything_that_is_meant_to_happen_does_so_often(generated: Histories) -> None:
    assert len(generated) >= HISTORIES
    tags = Counter(tag for each in generated for tag in each.tags)
    assert not {tag: tags[tag] for tag in sorted(MEANT) if tags[tag] < often(len(generated))}


def test_facts_and_rows_show_every_situation_often(generated: Histories) -> None:
    shown = Counter(word for each in generated for word in situations(each.facts, each.rows))
    assert not {word: shown[word] for word in sorted(SHOWN) if shown[word] < often(len(generated))}
    assert set(shown) == SHOWN


def test_no_history_contradicts_the_record_format(generated: Histories) -> None:
    for each in generated:
        assert not list(contradictions(each.facts, each.rows)), each.facts.run


def situations(facts: Facts, rows: Rows) -> set[str]:
    return {
        *_of_facts(facts),
        *_of_windows(facts, facts.windows),
        *_of_notes(rows),
        *_of_publishes(facts, rows),
        *_of_consumers(rows),
    }


def _of_facts(facts: Facts) -> Iterator[str]:
    yield f"{len(facts.promises)} promises"
    yield f"reconnect in {facts.reconnect_ns // 1_000_000} ms"
    yield "paced" if facts.paced else "unpaced"
    if not facts.confirms:
        yield "without confirms"
    if not facts.acknowledges:
        yield "no acknowledgements"
    if not any(worker.role == "consumer" for worker in facts.workers):
        yield "no consumer"


def _of_windows(facts: Facts, windows: tuple[Window, ...]) -> Iterator[str]:
    if not windows:
        yield "no window"
    for window in windows:
        if window.ended_ns is None:
            yield "a window never ends"
            if window.over_ns is None:
                yield "a window is never over"
        if window.origin_ns > facts.load_ended_ns:
            yield "an origin after the load"
    for one, other in combinations(sorted(windows, key=lambda each: each.origin_ns), 2):
        if one.origin_ns == other.origin_ns:
            yield "two windows at once"
        if one.ended_ns is None or one.ended_ns > other.origin_ns:
            yield "windows overlap"


def _of_notes(rows: Rows) -> Iterator[str]:
    noted = Counter((row["window"], row["event"]) for row in rows.get("faults", ()))
    if any(number > 1 and event == "undo_issued" for (_, event), number in noted.items()):
        yield "two undos of one window"
    if any(number > 1 and event == "gone" for (_, event), number in noted.items()):
        yield "two ends of one window"
    intended = {row["intended_ns"] for row in rows.get("attempts", ())}
    undos = (row for row in rows.get("faults", ()) if row["event"] == "undo_issued")
    if any(row["at_ns"] in intended for row in undos):
        yield "undo at a publish"


def _of_publishes(facts: Facts, rows: Rows) -> Iterator[str]:
    intended = {
        _attempt(row): at_ns
        for row in rows.get("attempts", ())
        if isinstance(at_ns := row["intended_ns"], int) and at_ns >= 0
    }
    if len(intended) >= 2_000:
        yield "thousands of publishes"
    if len(set(intended.values())) < len(intended):
        yield "two publishes at once"
    took = {
        settled_ns - intended[name]
        for row in rows.get("settlements", ())
        if (name := _attempt(row)) in intended and isinstance(settled_ns := row["settled_ns"], int)
    }
    if facts.deadline_ns in took:
        yield "confirmed at the deadline"
    if facts.deadline_ns + 1 in took:
        yield "confirmed 1 ns too late"


def _of_consumers(rows: Rows) -> Iterator[str]:
    if any(row["via"] == Via.RETRY_TOPIC for row in rows.get("deliveries", ())):
        yield "by the retry topic"
    if any(row["first_tag"] != row["last_tag"] for row in rows.get("acknowledgements", ())):
        yield "acknowledgements of ranges"
    if any(row["kind"] in ("lost", "closed") for row in rows.get("client_events", ())):
        yield "lost connections"


def contradictions(facts: Facts, rows: Rows) -> Iterator[str]:
    numbers = [window.number for window in facts.planned_windows]
    if numbers != [*range(1, len(numbers) + 1)]:
        yield "windows are not numbered from 1"
    attempts = [_attempt(row) for row in rows.get("attempts", ())]
    terms = [_attempt(row) for row in rows.get("terms", ())]
    for name, names in (("attempt", attempts), ("terms", terms)):
        if len(set(names)) < len(names):
            yield f"two rows of one {name}"
    settled = {_attempt(row) for row in rows.get("settlements", ())}
    if not settled | set(terms) <= set(attempts):
        yield "a settlement, or terms, without an attempt"
    lines = {(*_attempt(row)[:2], row["queue"], row["key"]) for row in rows.get("attempts", ())}
    if len(lines) > len({name[:2] for name in attempts}):
        yield "a message of two queues or keys"
    places = [_place(row) for row in rows.get("deliveries", ())]
    if len(set(places)) < len(places):
        yield "two deliveries in one place of the order"


def _attempt(row: Row) -> tuple[object, object, object]:
    return row["producer"], row["sequence"], row["attempt"]


def _place(row: Row) -> tuple[object, object, object]:
    return row["consumer"], row["connection"], row["tag"]
