"""The ways by which messages reach us: mqproof's own, and those that a system declares.

1. No rule asks for a way by its name. Rules ask for traits: whose work it was, whether messages
   come again by it, whether only a transaction holds what was found.
2. A number means the same in every format version. The first three are mqproof's own
   (`words.Via`); those of a system are in the facts of its runs (`Facts.ways`).
3. A recorded number that no way of the run has is bad input.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from spark_analysis.schema.words import Via

LOAD, DRAIN, AUDIT = "load", "drain", "audit"
NUMBER_MAX = 254  # a byte of the records
_LABEL = re.compile(r"[a-z][a-z0-9_]{0,30}")


@dataclass(frozen=True, slots=True)
class DeliveryWay:
    """A way by which messages reach us: its number in the records, its label in histories."""

    number: int
    label: str
    by: str  # LOAD: to consumers while they work; DRAIN: out of a queue; AUDIT: a find
    text: str  # for people; the name of the worker that got it follows
    again: bool = False  # by load or drain: its place is one of messages that come again
    uncommitted: bool = False  # by audit: only a transaction holds it, and no consumer may see it


OWN_WAYS = (
    DeliveryWay(int(Via.LOAD), LOAD, LOAD, "delivered to"),
    DeliveryWay(int(Via.DRAIN), DRAIN, DRAIN, "delivered to"),
    DeliveryWay(int(Via.AUDIT), AUDIT, AUDIT, "found by the audit, read by"),
)
_NUMBER_MIN = len(OWN_WAYS) + 1


@dataclass(frozen=True, slots=True)
class WayNumbers:
    """The numbers of a run's ways, by their traits."""

    load: tuple[int, ...]  # consumers got it while they worked
    drain: tuple[int, ...]
    audit: tuple[int, ...]  # finds, which no consumer got
    again: tuple[int, ...]
    uncommitted: tuple[int, ...]

    @property
    def every(self) -> tuple[int, ...]:
        return (*self.consumed, *self.audit)

    @property
    def consumed(self) -> tuple[int, ...]:
        """Return the ways that messages are meant to come by."""
        return (*self.load, *self.drain)

    @property
    def direct(self) -> tuple[int, ...]:
        """Return those from the queue of the message itself."""
        return _without(self.consumed, self.again)

    @property
    def direct_load(self) -> tuple[int, ...]:
        return _without(self.load, self.again)

    @property
    def whole(self) -> tuple[int, ...]:
        """Return those of finds that no transaction holds."""
        return _without(self.audit, self.uncommitted)

    @property
    def visible(self) -> tuple[int, ...]:
        """Return those that show a message which its transaction should have hidden."""
        return (*self.consumed, *self.whole)


def _without(numbers: Iterable[int], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(number for number in numbers if number not in others)


def way_numbers(declared: Iterable[DeliveryWay]) -> WayNumbers:
    """Return the numbers of mqproof's own ways and of those that a system declares."""
    ways = (*OWN_WAYS, *declared)

    def those(wanted: Callable[[DeliveryWay], bool]) -> tuple[int, ...]:
        return tuple(way.number for way in ways if wanted(way))

    return WayNumbers(
        load=those(lambda way: way.by == LOAD),
        drain=those(lambda way: way.by == DRAIN),
        audit=those(lambda way: way.by == AUDIT),
        again=those(lambda way: way.again),
        uncommitted=those(lambda way: way.uncommitted),
    )


def way_mistakes(declared: Iterable[DeliveryWay]) -> Iterator[str]:
    """Yield what is wrong with the ways that a system declares beside mqproof's own."""
    numbers, labels = set[int](), {way.label for way in OWN_WAYS}
    for each in declared:
        if not isinstance(each, DeliveryWay) or type(each.number) is not int:
            yield f"{each!r} is no DeliveryWay"
            continue
        place = f"way {each.label!r}"
        yield from (f"{place}: {problem}" for problem in _mistakes(each))
        if each.number in numbers or each.label in labels:
            yield f"{place}: its number {each.number} or its label stands twice"
        numbers.add(each.number)
        labels.add(each.label)


def _mistakes(way: DeliveryWay) -> Iterator[str]:
    if not _NUMBER_MIN <= way.number <= NUMBER_MAX:
        yield f"its number is from {_NUMBER_MIN} to {NUMBER_MAX}, not {way.number}"
    if not isinstance(way.label, str) or not _LABEL.fullmatch(way.label):
        yield "it is no label: small letters, digits, underscores"
    if way.by not in (LOAD, DRAIN, AUDIT):
        yield f"it is by {LOAD!r}, {DRAIN!r} or {AUDIT!r}, not {way.by!r}"
    if not isinstance(way.text, str) or not way.text:
        yield f"its text says how a message came, for people: {way.text!r} does not"
    if type(way.again) is not bool or type(way.uncommitted) is not bool:
        yield "`again` and `uncommitted` are True or False"
    if way.again and way.by == AUDIT:
        yield "`again` is of what consumers get: no find of the audit comes again"
    if way.uncommitted and way.by != AUDIT:
        yield "`uncommitted` is of finds of the audit: consumers may see no such message"
