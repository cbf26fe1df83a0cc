"""How far a run is, in its phases."""

from harness.plan.model import Schedule
from harness.run.core.conductor_protocol import RunPhase
from harness.run.core.progress import ALMOST, Part, parts
from tests.rigs.runs.plans import fault, plan

S = 1_000_000_000
FAULTED = Schedule(10, plan(fault("kill"), lasts_s=19.8).schedule.windows, 8, 4, 60)


def done(phase: RunPhase, now_s: float, **entered_s: float) -> dict[str, float]:
    entered_ns = {name: round(at_s * S) for name, at_s in entered_s.items()}
    found = parts(FAULTED, phase, entered_ns, round(now_s * S))
    return {part.phase: part.done for part in found}


def test_phases_are_as_long_as_the_schedule_says() -> None:
    assert [(one.phase, one.expected_s) for one in parts(FAULTED, RunPhase.PREPARING, {}, 0)] == [
        ("baseline", 10),
        ("windows", 10),
        ("recovery", 8),
        ("settle", 4),
        ("drain", 4),
        ("audit", 3),
    ]


def test_a_run_without_faults_has_no_windows() -> None:
    calm = Schedule(10, (), 8, 4, 60)
    assert "windows" not in [
        one.phase for one in parts(calm, RunPhase.BASELINE, {"baseline": 0}, 0)
    ]


def test_finished_phase_is_done_and_a_running_one_is_not() -> None:
    assert done(RunPhase.WINDOWS, 15, baseline=0, windows=10)["baseline"] == 1
    assert done(RunPhase.WINDOWS, 15, baseline=0, windows=10)["windows"] == 0.5
    assert done(RunPhase.WINDOWS, 99, baseline=0, windows=10)["windows"] == ALMOST
    assert done(RunPhase.WINDOWS, 99, baseline=0, windows=10)["recovery"] == 0


def test_an_interrupted_run_never_did_what_it_did_not_enter() -> None:
    found = done(RunPhase.CLOSING, 20, baseline=0, windows=10, closing=19)
    assert found["windows"] == 1
    assert (found["settle"], found["drain"], found["audit"]) == (0, 0, 0)


def test_phase_of_no_length_is_almost_done_until_it_ends() -> None:
    short = Schedule(0, (), 0, 0, 60)
    found = parts(short, RunPhase.SETTLE, {"baseline": 0, "settle": 0}, S)
    assert found[:2] == (Part("baseline", 0, 1.0), Part("settle", 0, ALMOST))
