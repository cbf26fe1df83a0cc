"""PURE: special messages of RocketMQ: when a delayed one is due, and the fate of a transaction.

1. The sequence and the workload alone decide whether a message is special, so it is known before
   anything is sent. Of each hundred sequences exactly the given shares are transactional, or
   delayed, spread among the others; none is both.
2. A delay counts from the sending: the broker may begin it later, never earlier.
3. It imports little, because workers use it, too.
"""

from dataclasses import dataclass
from functools import cache
from typing import Protocol

from spark_analysis.schema.words import NO_DUE, Fate

# Of a broker whose messageDelayLevel is the default; level 1 is the first.
_LEVELS = (
    *("1s", "5s", "10s", "30s", *(f"{minutes}m" for minutes in range(1, 11))),
    *("20m", "30m", "1h", "2h"),
)
_UNITS_S = {"s": 1, "m": 60, "h": 3600}
NO_DELAY = 0
_CYCLE = 100  # sequences: percentages refer to them
_STRIDE = 37  # has no divisor with the cycle: each place of it is met once

FATES = {
    "commit": Fate.COMMIT,
    "rollback": Fate.ROLLBACK,
    "commit when checked": Fate.COMMIT_WHEN_CHECKED,
    "rollback when checked": Fate.ROLLBACK_WHEN_CHECKED,
}


class Shares(Protocol):
    """The shares of special messages, as a scenario or a worker's options have them."""

    @property
    def delayed_percent(self) -> int: ...

    @property
    def delay_level(self) -> int: ...

    @property
    def transactional_percent(self) -> int: ...

    @property
    def fates(self) -> tuple[str, ...]: ...


def fate_of(shares: Shares, sequence: int) -> Fate:
    share = shares.transactional_percent
    if _place(sequence) >= share:
        return Fate.NONE
    rounds, rest = divmod(sequence, _CYCLE)
    return FATES[shares.fates[(rounds * share + _before(share)[rest]) % len(shares.fates)]]


def withdrawn(shares: Shares, sequence: int) -> bool:
    """Whether a message is to be rolled back, so that its refusal is what was meant."""
    return fate_of(shares, sequence) in (Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED)


def level_of(shares: Shares, sequence: int) -> int:
    """The level that a message is delayed by; NO_DELAY for one that is not."""
    first = shares.transactional_percent
    delayed = first <= _place(sequence) < first + shares.delayed_percent
    return shares.delay_level if delayed else NO_DELAY


def _place(sequence: int) -> int:
    return sequence * _STRIDE % _CYCLE


@cache
def _before(share: int) -> tuple[int, ...]:
    """For each sequence of a cycle, how many before it have a place below `share`."""
    counts = [0]
    for sequence in range(_CYCLE):
        counts.append(counts[-1] + (_place(sequence) < share))
    return tuple(counts)


def delay_ns(level: int) -> int:
    """How long a message of this level waits in its broker; 0 for level 0."""
    if level == NO_DELAY:
        return 0
    word = _LEVELS[level - 1]
    return int(word[:-1]) * _UNITS_S[word[-1]] * 1_000_000_000


def terms_of(shares: Shares, sequence: int, sent_ns: int) -> tuple[int, Fate] | None:
    """When an attempt is due, in run time, and its fate; None where it is an ordinary message."""
    fate, wait_ns = fate_of(shares, sequence), delay_ns(level_of(shares, sequence))
    if fate is Fate.NONE and not wait_ns:
        return None
    return (sent_ns + wait_ns if wait_ns else NO_DUE), fate


@dataclass(frozen=True, slots=True)
class RocketmqTerms:
    """harness.workers.clients.port.RocketmqTerms."""

    shares: Shares

    def of(self, sequence: int, sent_ns: int) -> tuple[int, Fate] | None:
        return terms_of(self.shares, sequence, sent_ns)

    def withdrawn(self, sequence: int) -> bool:
        return withdrawn(self.shares, sequence)


def terms(shares: Shares) -> RocketmqTerms | None:
    """None where every message is an ordinary one."""
    special = shares.delayed_percent > 0 or shares.transactional_percent > 0
    return RocketmqTerms(shares) if special else None
