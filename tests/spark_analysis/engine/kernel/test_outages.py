"""Outages of one queue of ten publishes a second, told by what was bad when."""

import numpy as np

from spark_analysis.engine.kernel.events.windows import Force, forces
from spark_analysis.engine.kernel.records import Faults, Text
from spark_analysis.engine.kernel.times.outages import Spell, spells
from spark_analysis.engine.kernel.times.service import service
from spark_analysis.engine.kernel.times.stretches import Due, course
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import QUEUE
from tests.rigs.histories.by_hand import History

S = 1_000_000_000
UNDONE = History(load_ms=(0, 60_000)).window(20_000, ended_ms=40_000, undo_ms=39_000)


def outages_of(
    *bad_s: tuple[float, float], history: History = UNDONE
) -> list[tuple[float, float, str]]:
    return [
        (spell.row.from_ns / S, spell.row.until_ns / S, spell.row.ended)
        for spell in found(*bad_s, history=history)
    ]


def found(*bad_s: tuple[float, float], history: History = UNDONE) -> list[Spell]:
    facts = history.facts
    return spells(course(due(bad_s, facts)), of(history), facts)


def due(bad_s: tuple[tuple[float, float], ...], facts: Facts) -> Due:
    times = np.arange(600) * (S // 10)
    bad = np.zeros(600, np.bool_)
    for from_s, until_s in bad_s:
        bad |= (times >= from_s * S) & (times < until_s * S)
    confirmed = np.where(bad, times + 2 * S, times + S // 100)
    return Due(QUEUE, ("orders",), np.array([0, 600]), times, confirmed, bad, 0, 60 * S)


def of(history: History) -> tuple[Force, ...]:
    rows = history.rows.get("faults", [])
    words = ("undo_issued", "gone")
    number = [words.index(str(row["event"])) for row in rows]
    window, at_ns = (
        np.array([row[name] for row in rows], np.int64) for name in ("window", "at_ns")
    )
    return forces(history.facts, Faults(window, Text(words, np.array(number, np.int32)), at_ns))


def test_a_calm_scope_was_never_out() -> None:
    assert outages_of() == []


def test_one_bad_publish_is_none_two_in_a_row_are() -> None:
    assert outages_of((25, 25.1)) == []
    assert outages_of((25, 25.2)) == [(25.0, 25.2, "system")]


def test_an_outage_that_the_undo_ended_says_so() -> None:
    assert outages_of((25, 39.5)) == [(25.0, 39.5, "undo")]


def test_before_and_after_the_fault_the_system_ended_it() -> None:
    assert outages_of((5, 10)) == [(5.0, 10.0, "system")]
    assert outages_of((45, 50)) == [(45.0, 50.0, "system")]


def test_without_a_recorded_undo_the_cause_is_unknown() -> None:
    history = History(load_ms=(0, 60_000)).window(20_000, ended_ms=40_000)
    assert outages_of((25, 30), history=history) == [(25.0, 30.0, "either")]


def test_a_host_that_never_returns_leaves_it_to_the_system() -> None:
    history = History(load_ms=(0, 60_000)).window(20_000, never_ended=True)
    assert outages_of((25, 30), history=history) == [(25.0, 30.0, "system")]


def test_one_that_lasts_ended_never() -> None:
    assert outages_of((50, 60)) == [(50.0, 60.0, "never")]


def test_an_outage_just_before_the_end_is_unknown() -> None:
    """From 58.5 s on no stretch is long enough to tell: 15 publishes and 1.5 s."""
    assert outages_of((50, 58.5)) == [(50.0, 58.5, "unknown")]


def test_a_few_good_ones_between_do_not_part_it() -> None:
    assert outages_of((25, 27), (28, 30)) == [(25.0, 30.0, "system")]
    assert outages_of((25, 27), (33, 35)) == [(25.0, 27.0, "system"), (33.0, 35.0, "system")]


def test_service_under_the_fault_is_open_until_enough_was_due() -> None:
    assert verdict((25, 30)) == "served"
    assert verdict((25, 36.5)) == "open"  # 15 publishes decided before the undo
    assert verdict((25, 39.5)) == "out"
    assert verdict((5, 21)) == "sick"
    assert verdict() == "served"


def verdict(*bad_s: tuple[float, float]) -> str:
    facts, history = UNDONE.facts, UNDONE
    whole = course(due(bad_s, facts))
    outages = spells(whole, of(history), facts)
    (row,) = service(whole, outages, of(history), [{}], facts)
    return row.verdict
