"""What a run says that it waits for, from the conductor's own state."""

from dataclasses import replace

from faults.kinds import KINDS
from harness.plan.files.spans import Duration
from harness.plan.files.targets import parse_target
from harness.plan.model import FaultPlan, Schedule, Window
from harness.run.core import conductor_protocol as c
from harness.run.core.conductor import NS, Conductor
from harness.run.core.progress import Ending, waits

FAULT = FaultPlan(KINDS["freeze"], parse_target("master of orders"), Duration(), Duration())
SCHEDULE = Schedule(
    baseline_s=10,
    windows=(Window(1, FAULT, 10, 20),),
    recovery_s=5,
    settle_s=3,
    drain_limit_s=60,
)
TITLES = {1: "freeze rmq1 (master of orders)"}


def said(run: Conductor, at_s: float, step: str = "", **entered_s: float) -> list[str]:
    entered_ns = {name: round(since * NS) for name, since in entered_s.items()}
    return list(waits(run, TITLES, Ending(60.0, step), entered_ns, 0, round(at_s * NS)))


def undone_at_32() -> Conductor:
    run = Conductor(SCHEDULE)
    run.handle(c.Ready(0))
    run.handle(c.Tick(10 * NS))
    run.handle(c.Opened(1, 11 * NS))
    assert said(run, 30) == []
    assert run.handle(c.Tick(31 * NS)) == [c.Undo(1)]
    assert said(run, 31.6) == ["undoing freeze rmq1 (master of orders): 1 s so far"]
    assert run.awaits_undo()
    run.handle(c.Undone(1, 32 * NS))
    assert not run.awaits_undo()
    return run


def test_a_fault_without_return_has_no_undo_to_wait_for() -> None:
    for returns in (True, False):
        window = Window(1, replace(FAULT, returns=returns), 10, 20)
        run = Conductor(replace(SCHEDULE, windows=(window,)))
        assert run.handle(c.Ready(0))
        assert run.awaits_undo() is returns


def test_an_undo_that_takes_long_is_named_with_its_limit() -> None:
    run = undone_at_32()
    assert said(run, 76) == [
        "waiting for proof that freeze rmq1 (master of orders) has ended: "
        "44 s so far, 120 s at most"
    ]
    run.handle(c.Left(1, 77 * NS))
    assert said(run, 78) == []


def test_a_late_undo_moves_what_is_left() -> None:
    run = undone_at_32()
    run.handle(c.Left(1, 77 * NS))
    assert run.left_s(78 * NS) == 4 + 3  # of recovery, then it settles


def test_drain_and_audit_are_named() -> None:
    run = undone_at_32()
    run.handle(c.Left(1, 40 * NS))
    run.handle(c.Tick(45 * NS))
    run.handle(c.Tick(48 * NS))
    assert said(run, 50, drain=48) == ["draining the queues: 2 s so far, 60 s at most for each"]
    run.handle(c.Drained())
    assert said(run, 61, audit=60) == ["audit: reading what brokers still hold: 1 s so far"]
    assert said(run, 64, "wait for rmq2, 60 s at most", audit=60) == [
        "audit: wait for rmq2, 60 s at most: 4 s so far"
    ]
