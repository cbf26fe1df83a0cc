"""The gate: what alarms, what cannot, and what is reported all the same."""

from collections.abc import Mapping

import pytest

from harness.compare.gate import AlarmKind, Gate, gate, level_of
from harness.compare.medians import Time
from harness.compare.rates import Tried, rate
from harness.compare.versus import LOSS, Counted, Ran, Side

CELL = ("master-crash", "rabbitmq-mirrored", "all-automatic@T=10", "pika")
OTHER = ("master-freeze", "rabbitmq-mirrored", "all-automatic@T=10", "pika")
PROMISE = "confirmed-is-delivered"


def claim(violated: int, runs: int, unjudged: int = 0, warns: bool = False) -> Counted:
    return Counted(Tried(rate(violated, runs), unjudged, warns), "What is confirmed is kept.")


def ran(runs: int = 1, out: tuple[float, ...] = (), **claims: Counted) -> Ran:
    named = {name.replace("_", "-"): one for name, one in claims.items()}
    return Ran(runs, named, {"total_downtime": tuple(map(Time, out))} if out else {})


def gated(before: Ran | None, *nights: Ran) -> Gate:
    baseline = Side("good", {CELL: before} if before is not None else {})
    return gate(baseline, [Side(f"night {n}", {CELL: one}) for n, one in enumerate(nights, 1)])


def kinds(answer: Gate) -> list[tuple[str, AlarmKind]]:
    return [(one.what, one.kind) for one in answer.alarms]


GOOD = {LOSS: claim(0, 30), "confirmed_is_delivered": claim(0, 30)}


def test_a_loss_where_the_baseline_has_none_alarms_at_once() -> None:
    answer = gated(ran(30, **GOOD), ran(**{**GOOD, LOSS: claim(1, 1)}))
    assert kinds(answer) == [(LOSS, AlarmKind.HARM)]
    assert answer.alarms[0].since == "night 1"


def test_an_alarm_repeats_while_it_happens_and_shows_its_start() -> None:
    loss = ran(**{LOSS: claim(1, 1)})
    answer = gated(ran(30, **GOOD), ran(**{LOSS: claim(0, 1)}), loss, loss)
    assert kinds(answer) == [(LOSS, AlarmKind.HARM)]
    assert answer.alarms[0].since == "night 2"
    well = gated(ran(30, **GOOD), loss, ran(**{LOSS: claim(0, 1)}))
    assert kinds(well) == []


def test_broken_promise_and_loss_alarm_and_a_warning_does_not() -> None:
    broken = ran(confirmed_is_delivered=claim(1, 1))
    assert kinds(gated(ran(30, **GOOD), broken)) == [(PROMISE, AlarmKind.HARM)]
    warning = ran(confirmed_is_delivered=claim(1, 1, warns=True))
    assert kinds(gated(ran(30, **GOOD), warning)) == []


@pytest.mark.parametrize("before", [None, ran(30), ran(30, confirmed_is_delivered=claim(0, 0))])
def test_harm_without_a_warning_alarms(before: Ran | None) -> None:
    answer = gated(before, ran(confirmed_is_delivered=claim(1, 1)))
    assert kinds(answer) == [(PROMISE, AlarmKind.HARM)]
    assert answer.alarms[0].before is None


def test_a_cell_without_a_baseline_is_reported() -> None:
    assert gated(None, ran(confirmed_is_delivered=claim(0, 1))).new == (CELL,)
    assert gated(ran(30, **GOOD), ran(**GOOD)).new == ()


# --- flaky cells ---------------------------------------------------------------------------------

SOMETIMES = ran(30, confirmed_is_delivered=claim(3, 30))
BROKEN, KEPT = (ran(confirmed_is_delivered=claim(count, 1)) for count in (1, 0))


def test_known_flaky_cell_does_not_alarm_for_being_flaky() -> None:
    answer = gated(SOMETIMES, *[KEPT] * 9, BROKEN)
    assert kinds(answer) == []
    assert [(one.what, one.before, one.after) for one in answer.flaky] == [
        (PROMISE, rate(3, 30), rate(1, 10))
    ]


def test_a_flaky_claim_is_reported_every_night() -> None:
    assert [one.what for one in gated(SOMETIMES, KEPT).flaky] == [PROMISE]


def test_a_violation_that_becomes_more_frequent_alarms() -> None:
    answer = gated(SOMETIMES, KEPT, *[BROKEN] * 5)
    assert kinds(answer) == [(PROMISE, AlarmKind.OFTEN)]
    assert (answer.alarms[0].after, answer.alarms[0].since) == (rate(5, 5), "night 2")


def test_newly_flaky_cell_is_reported_even_after_a_good_night() -> None:
    answer = gated(ran(30, **GOOD), BROKEN, KEPT)
    assert kinds(answer) == []
    assert [one.after for one in answer.flaky] == [rate(1, 2)]


# --- times ---------------------------------------------------------------------------------------

OUT = tuple(3.0 + 0.01 * number for number in range(30))


def test_longer_outage_alarms_with_the_night_it_began() -> None:
    nights = [ran(out=(3.1,)), *[ran(out=(6.0,))] * 5]
    answer = gated(ran(30, out=OUT), *nights)
    assert kinds(answer) == [("total_downtime", AlarmKind.LONGER)]
    assert answer.alarms[0].since == "night 2"


def test_a_shorter_one_and_one_slow_night_do_not() -> None:
    assert kinds(gated(ran(30, out=OUT), *[ran(out=(1.0,))] * 20)) == []
    assert kinds(gated(ran(30, out=OUT), *[ran(out=(3.1,))] * 5, ran(out=(60.0,)))) == []


def test_nights_without_a_play_of_a_cell_do_not_count() -> None:
    elsewhere = Side("elsewhere", {OTHER: ran(out=(1.0,))})
    slow = Side("slow", {CELL: ran(out=(6.0,))})
    answer = gate(Side("good", {CELL: ran(30, out=OUT)}), [slow, elsewhere] * 5 + [slow])
    assert [(one.cell, one.kind) for one in answer.alarms] == [(CELL, AlarmKind.LONGER)]


def test_the_detectable_change_is_reported_for_each_time() -> None:
    (watched,) = gated(ran(30, out=OUT), ran(out=(3.0,))).watched
    assert watched.catches is not None
    assert watched.catches <= 1.2
    (few,) = gated(ran(2, out=(3.0, 3.1)), ran(out=(3.0,))).watched
    assert few.catches is None


# --- nothing fails open --------------------------------------------------------------------------


def test_runs_that_decided_nothing_are_counted() -> None:
    answer = gated(ran(30, **GOOD), ran(3, confirmed_is_delivered=claim(0, 1, 2)))
    assert answer.unjudged == ((CELL, 2),)


def test_promise_or_time_no_longer_decided_is_reported() -> None:
    before = ran(30, out=OUT, **GOOD)
    known, unknown = ran(out=(3.1,), **{LOSS: claim(0, 1)}), ran(**{LOSS: claim(0, 1)})
    assert gated(before, *[unknown] * 5).undecided == ((CELL, PROMISE), (CELL, "total_downtime"))
    assert gated(before, *[unknown] * 4, known).undecided == ((CELL, PROMISE),)


def test_single_undecided_night_is_not_reported() -> None:
    before = ran(30, out=OUT, **GOOD)
    assert gated(before, *[ran(out=(3.1,), **GOOD)] * 4, ran()).undecided == ()
    assert gated(before, ran()).undecided == ()


def test_nor_is_what_the_baseline_seldom_decides() -> None:
    before = ran(30, confirmed_is_delivered=claim(0, 20))
    assert gated(before, *[ran()] * 20).undecided == ()


def sides(cells: Mapping[tuple[str, str, str, str], Ran]) -> Side:
    return Side("good", cells)


def test_more_tests_require_more_certainty_for_each_alarm() -> None:
    one, two = {CELL: ran(30, out=OUT)}, {CELL: ran(30, out=OUT), OTHER: ran(30, out=OUT)}
    assert level_of(sides(two)) == pytest.approx(level_of(sides(one)) / 2)
    flaky = {CELL: ran(30, out=OUT, confirmed_is_delivered=claim(3, 30))}
    assert level_of(sides(flaky)) == pytest.approx(level_of(sides(one)) / 2)
