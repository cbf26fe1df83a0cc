"""Layouts by cost, loss and downtime: which ones are dominated by others.

1. A place is a system in one layout, by one client. Places compare over the scenarios that both
   have played; without one in common they do not.
2. A place is dominated where another one costs no more hosts and no more memory, lost something in
   no larger share of runs and was out no longer under any of these scenarios, and is better in one
   of them. The rest is the frontier.
3. What is not known of a place dominates nothing, and is dominated by nothing.
4. Times and memory compare by medians, and only what is more by a tenth is more (of times, by
   0.2 s): runs of one place differ by as much.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.compare.longer import LEAST_S, LEAST_SHARE
from harness.compare.medians import Median
from harness.compare.rates import Rate

Place = tuple[str, str, str]  # system, layout, client


@dataclass(frozen=True, slots=True)
class Offer:
    """What one place costs, and does. `hosts`: of brokers; `cores`, `memory_bytes`: of them
    together, medians; `outs`: by scenario; `lost`, `broken`: runs. None is not known."""

    place: Place
    runs: int
    hosts: int | None
    cores: float | None
    memory_bytes: float | None
    per_s: float | None
    p50_ms: float | None
    lost: Rate
    broken: Rate
    outs: Mapping[str, Median]

    @property
    def is_known(self) -> bool:
        known = None not in (self.hosts, self.memory_bytes)
        return known and bool(self.lost.runs) and bool(self.outs)

    @property
    def worst(self) -> tuple[str, Median] | None:
        """The scenario that takes it out for longest."""
        return max(self.outs.items(), key=lambda one: one[1].median, default=None)


@dataclass(frozen=True, slots=True)
class Standing:
    """`by`: what dominates it, and in what it is better; empty: it is on the frontier. `known`:
    whether it could be compared at all."""

    offer: Offer
    by: tuple[tuple[Place, tuple[str, ...]], ...]
    known: bool

    @property
    def on_frontier(self) -> bool:
        return self.known and not self.by


def standings(offers: Sequence[Offer]) -> tuple[Standing, ...]:
    """Each place, in the order that they have."""
    return tuple(Standing(one, tuple(_dominating(one, offers)), one.is_known) for one in offers)


def _dominating(one: Offer, offers: Iterable[Offer]) -> Iterable[tuple[Place, tuple[str, ...]]]:
    for other in offers:
        if other.place != one.place and (better := _better(other, one)):
            yield other.place, better


def _better(one: Offer, other: Offer) -> tuple[str, ...]:
    """In what one is better that is worse in nothing; else in nothing."""
    if not (one.is_known and other.is_known):
        return ()
    both = [name for name in one.outs if name in other.outs]
    assert one.hosts is not None, "known"
    assert other.hosts is not None, "known"
    steps = {
        "hosts": _step(one.hosts, other.hosts),
        "memory": _step(one.memory_bytes or 0.0, other.memory_bytes or 0.0, LEAST_SHARE),
        "loss": _step(_share(one.lost), _share(other.lost)),
        **{
            name: _step(one.outs[name].median, other.outs[name].median, LEAST_SHARE, LEAST_S)
            for name in both
        },
    }
    if not both or 1 in steps.values():
        return ()
    return tuple(name for name, step in steps.items() if step < 0)


def _step(one: float, other: float, share: float = 0.0, least: float = 0.0) -> int:
    """-1: less, 1: more, 0: neither by enough."""
    apart = max(share * min(one, other), least)
    if one < other - apart:
        return -1
    return 1 if one > other + apart else 0


def _share(rate: Rate) -> float:
    return rate.violated / rate.runs
