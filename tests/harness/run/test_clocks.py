"""Clock facts: a clock that moves, or a machine that sleeps, is seen."""

from harness.run.core.clocks import ProcessClock, Sample

MS = 1_000_000


def sample(at_ms: int, theirs_ms: float, suspended_ms: int = 0, width_ms: int = 2) -> Sample:
    return Sample(at_ms * MS, round(theirs_ms * MS), (at_ms + width_ms) * MS, suspended_ms * MS)


def test_processes_of_one_boot_share_the_clock_without_caveat() -> None:
    clock = ProcessClock("publisher-1", same_boot=True)
    for at in (0, 10_000, 20_000):
        clock.observe(sample(at, at + 1))
    assert (clock.offset_ns, clock.bound_ns, clock.doubt) == (0, 0, "")


def test_a_clock_of_one_boot_that_moves_is_doubted() -> None:
    clock = ProcessClock("publisher-1", same_boot=True)
    clock.observe(sample(0, 1))
    clock.observe(sample(10_000, 10_500))
    assert clock.doubt == "publisher-1: its clock moved by 0.498 s against ours"


def test_a_suspend_between_two_looks_is_doubted() -> None:
    clock = ProcessClock("harness", same_boot=True)
    clock.observe(sample(0, 1))
    clock.observe(sample(10_000, 10_001, suspended_ms=2_000))
    assert clock.doubt == "harness: the machine was suspended for 2.000 s"


def test_remote_clock_offset_is_bounded_by_half_the_shortest_exchange() -> None:
    clock = ProcessClock("publisher-1", same_boot=False)
    clock.observe(sample(0, 5_005, width_ms=10))
    clock.observe(sample(10_000, 15_001, width_ms=2))
    assert clock.offset_ns == 5_000 * MS
    assert clock.bound_ns == 1 * MS
    assert clock.doubt == ""


def test_another_machines_clock_that_drifts_beyond_the_limit_is_doubted() -> None:
    clock = ProcessClock("publisher-1", same_boot=False)
    clock.observe(sample(0, 5_001))
    clock.observe(sample(10_000, 15_200))
    assert "its clock moved" in clock.doubt
