"""The tolerances of a run's records; a larger deviation is a doubt."""

ON_ITS_WAY_NS = 1_000_000_000  # so long after a takeover clients may still hear of it
DRIFT_NS_MAX = (
    10_000_000  # a clock that moved by more against ours is a doubt (run/core/clocks.py)
)
