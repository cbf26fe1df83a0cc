"""Offers of other installed packages, by the groups of their entry points.

1. If an offer cannot be loaded, that is reported, and other offers are not affected.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from harness.outside.text import brief


class Declared(Protocol):
    @property
    def name(self) -> str: ...


D = TypeVar("D", bound=Declared)


@dataclass(frozen=True, slots=True)
class Offer:
    """One entry point."""

    name: str
    package: str  # with its version: "acme-queues 1.2"
    thing: object  # what it leads to
    refused: str = ""  # why it leads nowhere


def offered(group: str) -> Iterator[Offer]:
    for entry in entry_points(group=group):
        yield _loaded(entry)


def _loaded(entry: EntryPoint) -> Offer:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
    try:
        return Offer(entry.name, package, entry.load())
    except (Exception, SystemExit) as failure:  # another's module may raise anything
        why = f"{brief(entry.value)} cannot be loaded: {type(failure).__name__}: {failure}"
        return Offer(entry.name, package, None, why)


def sorted_out(
    offers: Iterable[Offer],
    what: str,
    kind: type[D],
    ours: Mapping[str, D],
    mistakes: Callable[[D], Iterable[str]],
) -> tuple[dict[str, D], dict[str, str], dict[str, str]]:
    """Return by name: all declarations, the packages of offers, and why an offer is not used.

    `what`: a word for them, such as client; `mistakes`: what else is wrong with a declaration.
    """
    known, packages, spoilt = dict(ours), dict[str, str](), dict[str, str]()
    by_name: dict[str, list[Offer]] = {}
    for offer in offers:
        by_name.setdefault(offer.name, []).append(offer)
    for name, same in by_name.items():
        whose = " and ".join(sorted(offer.package for offer in same))
        thing = same[0].thing
        if why := "; ".join(_unusable(same, what, kind, ours, mistakes)):
            spoilt[name] = f"the {what} {brief(name)} of {whose} cannot be used: {why}"
        elif isinstance(thing, kind):
            known[name], packages[name] = thing, whose
    return known, packages, spoilt


def _unusable(
    same: Sequence[Offer],
    what: str,
    kind: type[D],
    ours: Mapping[str, D],
    mistakes: Callable[[D], Iterable[str]],
) -> Iterator[str]:
    """Of what is offered under one name."""
    if len(same) > 1:
        yield "the name is ambiguous; uninstall all but one of them"
        return
    (offer,) = same
    if offer.name in ours:
        yield "mqproof itself has one of this name, which is the one that is used"
    elif offer.refused:
        yield offer.refused
    elif not isinstance(offer.thing, kind):
        found = brief(type(offer.thing).__name__)
        yield f"its entry point leads to no declaration of a {what}, but to {found}"
    elif offer.thing.name != offer.name:
        yield f"its declaration has another name, {brief(offer.thing.name)}"
    else:
        yield from mistakes(offer.thing)
