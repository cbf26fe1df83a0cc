"""Counts that only delayed messages or transactions can have, and what stays open of them.

1. A run without such messages says nothing of them: moot, never 0.
2. What the analysis could not tell (the clocks, a producer that died) may belong to the count.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness.analyse.truth import Moot

Total = Callable[[str, str], int]  # of a measure and a detail of it; "" is every detail


@dataclass(frozen=True, slots=True)
class _Needed:
    """What must be counted in a run before a measure makes sense there."""

    measure: str
    detail: str
    missing: str


@dataclass(frozen=True, slots=True)
class Doubtful:
    """What may belong to a measure, too; `why` begins after the number of them."""

    measure: str
    why: str
    advice: str


_NEEDED = {
    "early": _Needed("delayed", "", "no message was delayed"),
    "rolled_back_but_delivered": _Needed("transactions", "", "nothing was sent in a transaction"),
    "torn_transaction": _Needed("transactions", "commit", "no transaction was to be committed"),
}
DOUBTFUL = {
    "early": Doubtful(
        "early_unknown",
        "came before their time by no more than the clocks are off",
        "run it with clients and brokers on one machine, or with synchronised clocks",
    ),
    "rolled_back_but_delivered": Doubtful(
        "rollback_unknown",
        "were to be rolled back, but nobody knows what the broker was told",
        "see how their producer ended (manifest, workers), then run it again",
    ),
}


def moot(measure: str, total: Total) -> Moot | None:
    """Why a run says nothing of this measure; None where it does."""
    needed = _NEEDED.get(measure)
    if needed is None or total(needed.measure, needed.detail):
        return None
    return Moot(needed.missing)


def told(total: Total) -> list[str]:
    """The measures that a run says something of."""
    return [measure for measure in _NEEDED if moot(measure, total) is None]
