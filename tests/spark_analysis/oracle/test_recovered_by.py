"""What brought sustained success: the system, or the end of the fault that it began under."""

import pytest

from spark_analysis.schema.words import RecoveredBy
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns

NANOSECOND_MS = 0.000001
# A fault from 10 s on, whose undo is issued at 20 s; the deadline is 2 s.
ORIGIN_MS, UNDO_MS, DEADLINE_MS = 10_000, 20_000, 2_000


def load(
    *,
    every_ms: float = 10,
    undo_ms: float | None = UNDO_MS,
    deadline_ms: float = DEADLINE_MS,
    returned_ms: float | None = None,
) -> History:
    history = History(load_ms=(0, 30_000), deadline_ms=deadline_ms)
    history.window(ORIGIN_MS, returned_ms=returned_ms, ended_ms=UNDO_MS + 100, undo_ms=undo_ms)
    for sequence in range(int(8_000 / every_ms), int(30_000 / every_ms)):
        history.publish(sequence, at_ms=sequence * every_ms)
    return history


def answer(history: History, every_ms: float, confirmed_ms: dict[int, float]) -> History:
    """At once, but for those that are named."""
    for sequence in range(int(8_000 / every_ms), int(30_000 / every_ms)):
        at_ms = confirmed_ms.get(sequence, sequence * every_ms + 1)
        history.confirm(sequence, at_ms=at_ms)
    return history


def recovered(history: History, window: int = 1) -> tuple[float | None, str]:
    """When success was sustained, in seconds after the fault, and what brought it."""
    (stage,) = (
        row
        for row in judge(*history.build()).stages
        if row.stage == "sustained_success" and row.window == window
    )
    return (stage.after_ns / 1e9 if stage.reached else None), stage.recovered_by


def held(
    share: int, until_ms: float = UNDO_MS, released_ms: float = UNDO_MS + 5
) -> dict[int, float]:
    """Of `share` publishes the first waits, from the fault until then."""
    waiting = range(ORIGIN_MS // 10, int(until_ms) // 10, share)
    return dict.fromkeys(waiting, released_ms)


def test_success_begun_and_kept_during_the_fault_is_the_systems() -> None:
    assert recovered(answer(load(), 10, {})) == (0, RecoveredBy.SYSTEM)


def test_a_second_outage_does_not_undo_the_first_success() -> None:
    late = dict.fromkeys(range(1_600, 1_800), 26_000.0)
    assert recovered(answer(load(), 10, late)) == (0, RecoveredBy.SYSTEM)


def test_half_a_load_that_waits_attributes_success_to_the_undo() -> None:
    after, of = recovered(answer(load(), 10, held(share=2)))
    assert after == pytest.approx(7.9, abs=0.1)
    assert of == RecoveredBy.UNDO


def test_a_load_that_waits_entirely_attributes_success_to_the_undo() -> None:
    assert recovered(answer(load(), 10, held(share=1)))[1] == RecoveredBy.UNDO


def test_two_percent_waiting_for_the_undo_leaves_the_cause_open() -> None:
    """A period of 5 s bears five of them: where ten wait until the undo it seems to be good."""
    after, of = recovered(answer(load(), 10, held(share=50)))
    assert after is not None and after < 8 - 2
    assert of == RecoveredBy.EITHER


def test_service_released_before_the_undo_was_restored_by_the_system() -> None:
    """Too late to be proved, but it was not the undo."""
    let_go = held(share=2, until_ms=19_700, released_ms=19_700)
    after, of = recovered(answer(load(), 10, let_go))
    assert after == pytest.approx(7.65, abs=0.1)
    assert of == RecoveredBy.EITHER


@pytest.mark.parametrize(
    ("began_ms", "of"),
    [
        (16_000, RecoveredBy.SYSTEM),  # 200 publishes of it, and their deadlines, before the undo
        (17_000, RecoveredBy.SYSTEM),  # 100, and nothing waits when the undo begins
        (17_010, RecoveredBy.EITHER),
        (18_990, RecoveredBy.EITHER),
        (19_990, RecoveredBy.EITHER),
        (20_000, RecoveredBy.NOTHING),
    ],
)
def test_the_later_success_begins_the_less_of_it_is_proved(began_ms: int, of: RecoveredBy) -> None:
    missed = dict.fromkeys(range(1_000, began_ms // 10), 29_000.0)
    assert recovered(answer(load(), 10, missed)) == ((began_ms - ORIGIN_MS) / 1_000, of)


def test_a_final_first_stretch_may_be_proved_by_its_confirms() -> None:
    """Of its 200 publishes too few were decided before the undo, but all were confirmed."""
    history = History(load_ms=(0, 30_000), deadline_ms=DEADLINE_MS)
    history.window(ORIGIN_MS, ended_ms=30_100, undo_ms=30_000)
    for sequence in range(320, 1_200):
        at_ms = sequence * 25
        late = ORIGIN_MS <= at_ms < 25_000
        history.publish(sequence, at_ms=at_ms)
        history.confirm(sequence, at_ms=29_000 if late else at_ms + 1)
    assert recovered(history) == (15, RecoveredBy.SYSTEM)


@pytest.mark.parametrize(("late", "of"), [(3, RecoveredBy.SYSTEM), (4, RecoveredBy.EITHER)])
def test_at_most_1_percent_of_decided_publishes_may_be_missed(late: int, of: RecoveredBy) -> None:
    """300 of the period's 500 publishes were decided, and of all 500 five may be missed."""
    missed = dict.fromkeys(range(1_000, 1_500), 29_000.0)
    missed |= dict.fromkeys(range(1_600, 1_600 + late), 29_000.0)
    young = dict.fromkeys(range(1_990, 2_000), UNDO_MS + 5.0)
    assert recovered(answer(load(), 10, missed | young)) == (5, of)


@pytest.mark.parametrize(("late", "of"), [(5, RecoveredBy.SYSTEM), (6, RecoveredBy.EITHER)])
def test_at_most_1_percent_of_a_period_confirms_after_undo(late: int, of: RecoveredBy) -> None:
    """Of its 500 publishes 200 were not decided by their deadlines when the undo began."""
    missed = dict.fromkeys(range(1_000, 1_500), 29_000.0)
    missed |= dict.fromkeys(range(1_600, 1_604), 29_000.0)
    young = dict.fromkeys(range(1_994, 1_994 + late - 4), UNDO_MS)
    assert recovered(answer(load(), 10, missed | young)) == (5, of)


@pytest.mark.parametrize(
    ("of_a_second", "to"),
    [
        (12, RecoveredBy.EITHER),  # 96 are decided before the undo
        (13, RecoveredBy.SYSTEM),  # 104 are
        (25, RecoveredBy.SYSTEM),  # 200 are, as many as its period has
    ],
)
def test_a_slow_load_needs_100_publishes_as_evidence(of_a_second: int, to: str) -> None:
    every_ms = 1_000 / of_a_second
    first, end = round(19_100 / every_ms), round(19_800 / every_ms)
    late = dict.fromkeys(range(first, end), UNDO_MS + 5.0)
    assert recovered(answer(load(every_ms=every_ms), every_ms, late)) == (approx_s(every_ms), to)


@pytest.mark.parametrize(("late", "to"), [(1, RecoveredBy.SYSTEM), (2, RecoveredBy.EITHER)])
def test_100_publishes_are_evidence_where_nothing_waits_for_the_undo(late: int, to: str) -> None:
    """Of 15 a second 120 are decided, and 15 more are intended up to half a deadline before."""
    every_ms = 1_000 / 15
    waiting = range(round(18_500 / every_ms), round(18_500 / every_ms) + late)
    history = load(every_ms=every_ms)
    held_back = answer(history, every_ms, dict.fromkeys(waiting, UNDO_MS + 5.0))
    assert recovered(held_back) == (approx_s(every_ms), to)


@pytest.mark.parametrize(
    ("late_ms", "to"),
    [(19_000, RecoveredBy.SYSTEM), (19_000 - 1_000 / 15, RecoveredBy.EITHER)],
)
def test_publishes_younger_than_half_a_deadline_may_await_confirms(
    late_ms: float, to: str
) -> None:
    every_ms = 1_000 / 15
    waiting = range(round(late_ms / every_ms), round(late_ms / every_ms) + 2)
    late = {round(18_500 / every_ms): UNDO_MS + 5.0} | dict.fromkeys(waiting, UNDO_MS + 5.0)
    assert recovered(answer(load(every_ms=every_ms), every_ms, late)) == (approx_s(every_ms), to)


def approx_s(every_ms: float) -> object:
    return pytest.approx(0, abs=every_ms / 1_000)


def test_a_period_confirmed_before_the_undo_is_the_systems() -> None:
    """Of 20 a second none has 100 publishes whose deadlines are over; 200 were just there."""
    patient = {"deadline_ms": 6_000.0}
    assert recovered(answer(load(every_ms=49, **patient), 49, {})) == (
        approx_s(49),
        RecoveredBy.SYSTEM,
    )
    assert recovered(answer(load(every_ms=51, **patient), 51, {}))[1] == RecoveredBy.EITHER


def test_a_complete_first_period_is_independent_of_a_second_outage() -> None:
    """A deadline of 8 s: little of it is decided by deadlines, but all of it was confirmed."""
    history = load(deadline_ms=8_000)
    second = dict.fromkeys(range(1_600, 1_900), 21_000.0)
    assert recovered(answer(history, 10, second)) == (0, RecoveredBy.SYSTEM)


def test_service_while_the_fault_was_being_made_proves_nothing() -> None:
    """The command took eight seconds; from then on half of the load waits."""
    history = load(returned_ms=18_000)
    half = dict.fromkeys(range(1_800, 2_000, 2), 27_000.0)
    assert recovered(answer(history, 10, half)) == (0, RecoveredBy.EITHER)


def test_an_unrecorded_undo_may_have_caused_any_success() -> None:
    assert recovered(answer(load(undo_ms=None), 10, {})) == (0, RecoveredBy.EITHER)


def test_success_at_the_return_of_the_undo_is_unattributed() -> None:
    def after(back: int) -> str:
        late = dict.fromkeys(range(ORIGIN_MS // 10, back), 29_000.0)
        return recovered(answer(load(undo_ms=None), 10, late))[1]

    assert after(back=2_010) == RecoveredBy.NOTHING
    assert after(back=2_009) == RecoveredBy.EITHER


def test_a_fault_without_an_end_brought_nothing() -> None:
    history = History(load_ms=(0, 30_000)).window(ORIGIN_MS, never_ended=True)
    for sequence in range(800, 3_000):
        history.publish(sequence, at_ms=sequence * 10)
    assert recovered(answer(history, 10, {})) == (0, RecoveredBy.NOTHING)


def test_the_first_of_two_undos_counts() -> None:
    history = load(undo_ms=UNDO_MS + 2_000)
    history.rows["faults"] += [
        {"window": 1, "event": "undo_issued", "at_ns": ns(UNDO_MS)},
        {"window": 2, "event": "undo_issued", "at_ns": ns(ORIGIN_MS)},
        {"window": 1, "event": "issued", "at_ns": ns(ORIGIN_MS)},
    ]
    assert recovered(answer(history, 10, held(share=2)))[1] == RecoveredBy.UNDO


def test_without_sustained_success_there_is_no_recovery() -> None:
    missed = dict.fromkeys(range(1_000, 3_000), 40_000.0)
    assert recovered(answer(load(), 10, missed)) == (None, RecoveredBy.NOTHING)


@pytest.mark.parametrize(
    ("confirmed_ms", "of"),
    [(UNDO_MS, RecoveredBy.UNDO), (UNDO_MS - NANOSECOND_MS, RecoveredBy.EITHER)],
)
def test_publishes_confirmed_before_the_undo_did_not_wait_for_it(
    confirmed_ms: float, of: RecoveredBy
) -> None:
    assert recovered(answer(load(), 10, held(share=2, released_ms=confirmed_ms)))[1] == of


@pytest.mark.parametrize(
    ("sequences", "of"),
    [
        (range(1_850, 1_852), RecoveredBy.EITHER),  # two of 200 are a hundredth
        (range(1_850, 1_853), RecoveredBy.UNDO),
        (range(1_840, 1_850), RecoveredBy.EITHER),  # the system may have mended itself since
        (range(1_900, 2_000), RecoveredBy.EITHER),  # too young to have waited
    ],
)
def test_failures_must_last_until_half_a_deadline_before_the_undo(
    sequences: range, of: RecoveredBy
) -> None:
    """Look for them from three quarters of a deadline before the undo on."""
    missed = dict.fromkeys(range(1_000, 1_800), 29_000.0)
    waited = dict.fromkeys(sequences, UNDO_MS + 5.0)
    assert recovered(answer(load(), 10, missed | waited)) == (8, of)


@pytest.mark.parametrize(
    ("began_ms", "of"),
    [(17_000, RecoveredBy.UNDO), (16_990, RecoveredBy.EITHER), (18_500, RecoveredBy.UNDO)],
)
def test_success_by_the_undo_seems_to_begin_a_deadline_before(
    began_ms: int, of: RecoveredBy
) -> None:
    missed = dict.fromkeys(range(1_000, began_ms // 10), 29_000.0)
    waited = dict.fromkeys(range(1_850, 2_000), UNDO_MS + 5.0)
    after, to = recovered(answer(load(), 10, missed | waited))
    assert (after, to) == ((began_ms - ORIGIN_MS) / 1_000, of)


@pytest.mark.parametrize(
    ("sequence", "after_ms", "of"),
    [
        (1_840, 1_000, RecoveredBy.EITHER),
        (1_840, 1_000 - NANOSECOND_MS, RecoveredBy.UNDO),
        (1_840, 1_600, RecoveredBy.UNDO),  # by the undo, perhaps
        (1_790, 1_500, RecoveredBy.UNDO),  # not of this success
        (1_801, 1_999, RecoveredBy.UNDO),
    ],
)
def test_a_publish_equally_late_without_undo_did_not_await_it(
    sequence: int, after_ms: float, of: RecoveredBy
) -> None:
    missed = dict.fromkeys(range(1_000, 1_800), 29_000.0)
    waited = dict.fromkeys(range(1_850, 1_900), UNDO_MS + 5.0)
    slow = {sequence: sequence * 10 + after_ms}
    assert recovered(answer(load(), 10, missed | waited | slow)) == (8, of)


def test_success_that_began_later_than_that_may_be_eithers() -> None:
    missed = dict.fromkeys(range(1_000, 1_851), 29_000.0)
    waited = dict.fromkeys(range(1_860, 2_000), UNDO_MS + 5.0)
    assert recovered(answer(load(), 10, missed | waited)) == (8.51, RecoveredBy.EITHER)


@pytest.mark.parametrize(
    ("confirmed", "of"),
    [({}, RecoveredBy.UNDO), ({1_999: UNDO_MS - 1.0}, RecoveredBy.EITHER)],
)
def test_service_after_the_undo_alone_is_the_undos(
    confirmed: dict[int, float], of: RecoveredBy
) -> None:
    missed = dict.fromkeys(range(1_000, 1_960), 29_000.0)
    waited = dict.fromkeys(range(1_960, 2_150), UNDO_MS + 1_500.0)
    assert recovered(answer(load(), 10, missed | waited | confirmed)) == (9.6, of)


def test_few_publishes_before_the_undo_leave_the_cause_open() -> None:
    missed = dict.fromkeys(range(400, 784), 29_000.0)
    waited = dict.fromkeys(range(784, 860), UNDO_MS + 1_500.0)
    history = answer(load(every_ms=25), 25, missed | waited)
    assert recovered(history) == (9.6, RecoveredBy.EITHER)
