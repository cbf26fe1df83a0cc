"""Whether the clocks of a run's processes can be believed: offsets, bounds, suspends.

1. Pure: samples in, a doubt out. A sample brackets another process's clock between two of ours.
2. Processes with one boot id share CLOCK_MONOTONIC: their offset is 0, and a reading outside its
   bracket is a doubt. Others get an offset whose bound is half the narrowest bracket.
3. The clock stands still while the machine is suspended, so any suspend makes the run unknown.
"""

from dataclasses import dataclass, field

from harness.run_folder.tolerances import DRIFT_NS_MAX

SUSPEND_LIMIT_NS = 5_000_000  # CLOCK_BOOTTIME and CLOCK_MONOTONIC are not read at one instant


@dataclass(frozen=True, slots=True)
class Sample:
    """One exchange: our clock before and after, and what the other said in between."""

    before_ns: int
    theirs_ns: int
    after_ns: int
    suspended_ns: int


@dataclass(slots=True)
class ProcessClock:
    """One other process's clock. `offset_ns` = theirs - ours."""

    name: str
    same_boot: bool
    _first: Sample | None = None
    _best: Sample | None = None
    _doubts: list[str] = field(default_factory=list)

    def observe(self, sample: Sample) -> None:
        if self._first is None or self._best is None:
            self._first = self._best = sample
        self._check_suspend(sample)
        self._check_offset(sample)
        if sample.after_ns - sample.before_ns < self._best.after_ns - self._best.before_ns:
            self._best = sample

    @property
    def offset_ns(self) -> int:
        if self.same_boot or self._best is None:
            return 0
        return self._best.theirs_ns - (self._best.before_ns + self._best.after_ns) // 2

    @property
    def bound_ns(self) -> int:
        if self.same_boot or self._best is None:
            return 0
        return (self._best.after_ns - self._best.before_ns + 1) // 2

    @property
    def doubt(self) -> str:
        """Why this clock cannot be believed; "" where it can."""
        return self._doubts[0] if self._doubts else ""

    def _check_suspend(self, sample: Sample) -> None:
        assert self._first is not None
        slept_ns = sample.suspended_ns - self._first.suspended_ns
        if slept_ns > SUSPEND_LIMIT_NS:
            self._doubts.append(
                f"{self.name}: the machine was suspended for {slept_ns / 1e9:.3f} s"
            )

    def _check_offset(self, sample: Sample) -> None:
        slack_ns = 0 if self.same_boot else DRIFT_NS_MAX
        theirs_ns = sample.theirs_ns - self.offset_ns
        if sample.before_ns - slack_ns <= theirs_ns <= sample.after_ns + slack_ns:
            return
        wrong_ns = max(sample.before_ns - theirs_ns, theirs_ns - sample.after_ns)
        self._doubts.append(f"{self.name}: its clock moved by {wrong_ns / 1e9:.3f} s against ours")
