"""Each host's own time: it may run faster or slower than the world's, and begin elsewhere."""


class WorldClock:
    """The true time, in milliseconds from the beginning. No host in the world can read it."""

    def __init__(self) -> None:
        self.ms = 0.0


class HostClock:
    """effects.Clock. `rate`: its milliseconds in one of the world's; `behind_ms`: how much the
    time of day lags."""

    def __init__(self, world: WorldClock, rate: float = 1.0, behind_ms: int = 0) -> None:
        self._world = world
        self._rate = rate
        self._behind_ms = behind_ms

    def now_ms(self) -> int:
        return int(self._world.ms * self._rate)

    def wall_ms(self) -> int:
        return _EPOCH_MS + self.now_ms() - self._behind_ms


_EPOCH_MS = 1_700_000_000_000
