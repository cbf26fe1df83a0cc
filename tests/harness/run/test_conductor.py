"""The order of a run, as stories: events in, dispatches out, compared whole."""

from hypothesis import given
from hypothesis import strategies as st

from faults.kinds import KINDS
from harness.plan.files.spans import Duration
from harness.plan.files.targets import parse_target
from harness.plan.model import FaultPlan, OperationStep, Schedule, Window
from harness.run.core import conductor_protocol as c
from harness.run.core.conductor import NS, Conductor
from harness.run.core.conductor_protocol import RunPhase
from tests.rigs.runs.plans import operation

FAULT = FaultPlan(KINDS["kill"], parse_target("master of orders"), Duration(), Duration())
RESTART = operation("restart_node", "master of orders")


def schedule(*windows: tuple[float, float], steps: tuple[float, ...] = ()) -> Schedule:
    return Schedule(
        baseline_s=10,
        windows=tuple(
            Window(number, FAULT, opens_s, lasts_s)
            for number, (opens_s, lasts_s) in enumerate(windows, 1)
        ),
        recovery_s=5,
        settle_s=3,
        drain_limit_s=60,
        steps=tuple(OperationStep(number, RESTART, at_s) for number, at_s in enumerate(steps, 1)),
    )


def begun(*windows: tuple[float, float], steps: tuple[float, ...] = ()) -> Conductor:
    conductor = Conductor(schedule(*windows, steps=steps))
    assert conductor.handle(c.Ready(0)) == [c.Enter(RunPhase.BASELINE)]
    return conductor


def at(conductor: Conductor, seconds: float) -> list[c.Dispatch]:
    return conductor.handle(c.Tick(round(seconds * NS)))


def test_run_with_one_window_passes_every_phase_in_order() -> None:
    run = begun((10, 20))
    assert at(run, 9.9) == []
    assert at(run, 10) == [c.Enter(RunPhase.WINDOWS), c.Open(1)]
    assert run.handle(c.Opened(1, 11 * NS)) == []
    assert at(run, 30.9) == []
    assert at(run, 31) == [c.Undo(1)]
    assert run.handle(c.Undone(1, 32 * NS)) == []
    assert run.handle(c.Left(1, 40 * NS)) == [c.Enter(RunPhase.RECOVERY)]
    assert at(run, 44.9) == []
    assert at(run, 45) == [c.StopLoad(), c.Enter(RunPhase.SETTLE)]
    assert at(run, 47.9) == []
    assert at(run, 48) == [c.Enter(RunPhase.DRAIN), c.CloseLoad(drain=True)]
    assert run.handle(c.Drained()) == [c.Enter(RunPhase.AUDIT), c.Audit()]
    assert run.handle(c.Audited()) == [c.Enter(RunPhase.CLOSING), c.Finish()]
    assert run.handle(c.Closed()) == [c.Enter(RunPhase.FINISHED)]


def test_window_begins_when_its_action_returns() -> None:
    run = begun((10, 20))
    at(run, 10)
    run.handle(c.Opened(1, 25 * NS))
    assert at(run, 44.9) == []
    assert at(run, 45) == [c.Undo(1)]


def test_load_continues_until_the_fault_is_verified_ended() -> None:
    run = begun((10, 1))
    at(run, 10)
    run.handle(c.Opened(1, 10 * NS))
    at(run, 11)
    run.handle(c.Undone(1, 12 * NS))
    assert at(run, 100) == []
    assert run.handle(c.Left(1, 100 * NS)) == [c.Enter(RunPhase.RECOVERY)]


def test_window_that_could_not_open_ends_at_once() -> None:
    run = begun((10, 20))
    at(run, 10)
    assert run.handle(c.Missed(1, 10 * NS)) == [c.Enter(RunPhase.RECOVERY)]
    assert run.armed() == []


def test_overlapping_windows_each_go_their_own_way() -> None:
    run = begun((10, 20), (15, 2))
    at(run, 10)
    run.handle(c.Opened(1, 10 * NS))
    assert at(run, 15) == [c.Open(2)]
    run.handle(c.Opened(2, 15 * NS))
    assert at(run, 17) == [c.Undo(2)]
    run.handle(c.Undone(2, 17 * NS))
    assert run.handle(c.Left(2, 18 * NS)) == []
    assert run.armed() == [1]
    assert at(run, 30) == [c.Undo(1)]


def test_window_after_another_waits_for_its_end_and_the_pause() -> None:
    run = begun((10, 5), (22, 5))
    at(run, 10)
    run.handle(c.Opened(1, 10 * NS))
    at(run, 15)
    run.handle(c.Undone(1, 16 * NS))
    assert at(run, 22) == [], "the first is not verified ended"
    assert run.handle(c.Left(1, 30 * NS)) == [], "the second is still to come"
    assert at(run, 36.9) == []
    assert at(run, 37) == [c.Open(2)]


def test_window_never_opens_early_when_another_ends_early() -> None:
    run = begun((10, 5), (22, 5))
    at(run, 10)
    run.handle(c.Missed(1, 10 * NS))
    assert at(run, 21.9) == []
    assert at(run, 22) == [c.Open(2)]


def test_faultless_run_needs_no_window() -> None:
    run = begun()
    assert at(run, 14.9) == []
    assert at(run, 15) == [c.StopLoad(), c.Enter(RunPhase.SETTLE)]


def test_an_interrupt_undoes_what_is_armed_before_anything_closes() -> None:
    run = begun((10, 20))
    at(run, 10)
    run.handle(c.Opened(1, 11 * NS))
    assert run.handle(c.Interrupted()) == [c.StopLoad(at_once=True), c.Undo(1)]
    assert run.handle(c.Undone(1, 12 * NS)) == []
    assert run.handle(c.Left(1, 13 * NS)) == [
        c.Enter(RunPhase.CLOSING),
        c.CloseLoad(drain=False),
    ]


def test_an_interrupt_undoes_the_latest_fault_first() -> None:
    run = begun((10, 20), (12, 20))
    for number, instant_s in ((1, 10), (2, 12)):
        at(run, instant_s)
        run.handle(c.Opened(number, instant_s * NS))
    assert run.handle(c.Interrupted())[1:] == [c.Undo(2)]
    assert run.handle(c.Undone(2, 14 * NS)) == [c.Undo(1)]
    assert run.handle(c.Undone(1, 15 * NS)) == []


def test_interrupt_during_an_action_undoes_it_when_it_returns() -> None:
    run = begun((10, 20))
    at(run, 10)
    assert run.handle(c.Interrupted()) == [c.StopLoad(at_once=True)]
    assert run.handle(c.Opened(1, 11 * NS)) == [c.Undo(1)]


def test_after_an_interrupt_no_window_opens_any_more() -> None:
    run = begun((10, 20), (50, 5))
    at(run, 10)
    run.handle(c.Opened(1, 11 * NS))
    run.handle(c.Interrupted())
    assert at(run, 60) == []


def test_an_interrupt_while_things_settle_ends_what_is_tried_again() -> None:
    run = begun()
    assert at(run, 15) == [c.StopLoad(), c.Enter(RunPhase.SETTLE)]
    assert run.handle(c.Interrupted()) == [
        c.StopLoad(at_once=True),
        c.Enter(RunPhase.CLOSING),
        c.CloseLoad(drain=False),
    ]


def test_undone_fault_stays_armed_until_verified_ended() -> None:
    run = begun((10, 20), (15, 20))
    at(run, 10)
    run.handle(c.Opened(1, 10 * NS))
    at(run, 15)
    assert run.to_undo() == [1, 2]
    at(run, 30)
    run.handle(c.Undone(1, 31 * NS))
    assert (run.armed(), run.to_undo()) == ([1, 2], [2])


def test_interrupt_during_the_drain_closes_and_ignores_later_events() -> None:
    run = begun()
    at(run, 15)
    at(run, 18)
    assert run.handle(c.Interrupted()) == [c.Enter(RunPhase.CLOSING), c.CloseLoad(drain=False)]
    assert run.handle(c.Drained()) == []
    assert run.handle(c.Interrupted()) == []


def test_operation_starts_on_time_and_load_lasts_until_it_returns() -> None:
    run = begun(steps=(12,))
    assert at(run, 11.9) == []
    assert at(run, 12) == [c.Enter(RunPhase.WINDOWS), c.Perform(1)]
    assert at(run, 100) == []
    assert run.handle(c.Performed(1, 100 * NS)) == [c.Enter(RunPhase.RECOVERY)]
    assert at(run, 104.9) == []
    assert at(run, 105) == [c.StopLoad(), c.Enter(RunPhase.SETTLE)]


def test_operations_run_one_by_one_with_their_pause() -> None:
    run = begun(steps=(10, 10, 15))
    assert at(run, 10) == [c.Enter(RunPhase.WINDOWS), c.Perform(1)]
    assert at(run, 20) == []
    assert run.handle(c.Performed(1, 21 * NS)) == []
    assert at(run, 21) == [c.Perform(2)]
    run.handle(c.Performed(2, 22 * NS))
    assert at(run, 26.9) == []
    assert at(run, 27) == [c.Perform(3)]


def test_operation_after_a_window_waits_for_its_end() -> None:
    run = begun((10, 5), steps=(17,))
    at(run, 10)
    run.handle(c.Opened(1, 10 * NS))
    at(run, 15)
    run.handle(c.Undone(1, 16 * NS))
    assert at(run, 20) == [], "the fault is not verified ended"
    assert run.handle(c.Left(1, 30 * NS)) == [], "the operation is still to come"
    assert at(run, 31.9) == []
    assert at(run, 32) == [c.Perform(1)]


def test_operation_inside_a_window_does_not_wait_for_its_end() -> None:
    run = begun((10, 20), steps=(15,))
    at(run, 10)
    run.handle(c.Opened(1, 10 * NS))
    assert at(run, 15) == [c.Perform(1)]
    assert run.handle(c.Performed(1, 16 * NS)) == []
    assert run.armed() == [1]
    assert at(run, 30) == [c.Undo(1)]


def test_window_waits_for_the_operation_before_it_and_the_pause() -> None:
    run = begun((14, 5), steps=(10,))
    at(run, 10)
    assert at(run, 30) == []
    run.handle(c.Performed(1, 30 * NS))
    assert at(run, 33.9) == []
    assert at(run, 34) == [c.Open(1)]


def test_interrupt_stops_an_operation_and_closes_when_it_has_returned() -> None:
    run = begun(steps=(10, 20))
    at(run, 10)
    assert run.handle(c.Interrupted()) == [c.StopLoad(at_once=True), c.BreakOff(1)]
    assert run.handle(c.Performed(1, 11 * NS)) == [
        c.Enter(RunPhase.CLOSING),
        c.CloseLoad(drain=False),
    ]
    assert at(run, 60) == []


@given(
    windows=st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 30)), max_size=3, unique=True),
    interrupt_at=st.none() | st.floats(0, 120),
    refused=st.sets(st.integers(1, 3)),
    steps=st.lists(st.floats(0, 40), max_size=3),
)
def test_every_window_that_opened_is_undone_before_the_load_closes(
    windows: list[tuple[float, float]],
    interrupt_at: float | None,
    refused: set[int],
    steps: list[float],
) -> None:
    run = begun(*windows, steps=tuple(sorted(steps)))
    opened: set[int] = set()
    undone: set[int] = set()
    performed: list[int] = []
    closed = False
    for tenth in range(1500):
        now_ns = tenth * NS // 10
        if interrupt_at is not None and tenth == int(interrupt_at * 10):
            todo = run.handle(c.Interrupted())
        else:
            todo = run.handle(c.Tick(now_ns))
        while todo:
            match todo.pop(0):
                case c.Open(number) if number in refused:
                    todo += run.handle(c.Missed(number, now_ns))
                case c.Open(number):
                    opened.add(number)
                    todo += run.handle(c.Opened(number, now_ns))
                case c.Undo(number):
                    assert number in opened - undone
                    undone.add(number)
                    todo += run.handle(c.Undone(number, now_ns))
                    todo += run.handle(c.Left(number, now_ns))
                case c.Perform(number):
                    performed.append(number)
                    todo += run.handle(c.Performed(number, now_ns))
                case c.CloseLoad(drain):
                    assert undone == opened
                    assert performed == [*range(1, len(performed) + 1)]
                    assert not drain or len(performed) == len(steps)
                    closed = True
    assert closed
