"""Redeliveries of a history whose cause may be hidden, so that no claim may call them few.

1. What comes flagged to the connection that received it last was given back by its consumer, or by
   nothing on record. A history hides which if it has no client event of the consumer, if tags
   show that a connection's number was used twice, or if a requeue names no tag while the
   connection held several messages. If the client does not report flags, a second delivery to that
   connection may be flagged.
2. A hidden cause excuses a broker; it proves nothing.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.histories.history import Cell, History
from spark_analysis.schema.words import Redelivered

_REQUEUED = "requeued"
_NO_EVENTS = "consumer {0} has no client event on record, so what it requeued is unknown"
_NO_FLAG = (
    "consumer {0} received a message again on connection {1}, and its client does not report "
    "whether the broker flagged that delivery"
)
_TWICE = (
    "tags of connection {1} of consumer {0} do not ascend: its number was used twice, so what it "
    "requeued is unknown"
)
_NO_TAG = (
    "consumer {0} requeued something on connection {1}, and no row says which of the messages "
    "that it held"
)
_Channel = tuple[Cell, Cell]  # consumer, connection
_Attempt = tuple[Cell, Cell, Cell]
_CAME, _ANSWERED, _GAVE_BACK = range(3)  # in this order at one instant


@dataclass(frozen=True, slots=True)
class _LoadDelivery:
    """A delivery to a consumer of the load."""

    at_ns: int
    attempt: _Attempt
    channel: _Channel
    tag: int
    flagged: bool | None  # None: the client does not report that


@dataclass(slots=True)
class _HeldMessages:
    """The deliveries that a connection holds unacknowledged, by tag."""

    tags: list[int] = field(default_factory=list)  # ascending
    attempts: dict[int, _Attempt] = field(default_factory=dict)  # by tag
    copies: Counter[_Attempt] = field(default_factory=Counter)

    def add(self, tag: int, attempt: _Attempt) -> None:
        self.remove(tag, tag)
        insort(self.tags, tag)
        self.attempts[tag] = attempt
        self.copies[attempt] += 1

    def remove(self, first: int, last: int) -> None:
        some = slice(bisect_left(self.tags, first), bisect_right(self.tags, last))
        for tag in self.tags[some]:
            attempt = self.attempts.pop(tag)
            self.copies[attempt] -= 1
            if not self.copies[attempt]:
                del self.copies[attempt]
        del self.tags[some]


def hidden_cause(history: History) -> str:
    """Return why the cause of a redelivery may be hidden; "" if no cause is."""
    again = [*_again(history)]
    if not again:
        return ""
    events = history.tables.get("client_events", {})
    recorded = {*events.get("worker", [])}
    for before, after in again:
        if after.flagged is None:
            return _NO_FLAG.format(*after.channel)
        if after.channel[0] not in recorded:
            return _NO_EVENTS.format(*after.channel)
        if after.tag <= before.tag:
            return _TWICE.format(*after.channel)
    unclear = _unclear_ns(history)
    for before, after in again:
        times_ns = unclear.get(after.channel, [])
        place = bisect_left(times_ns, before.at_ns)
        if place < len(times_ns) and times_ns[place] < after.at_ns:
            return _NO_TAG.format(*after.channel)
    return ""


def _again(history: History) -> Iterator[tuple[_LoadDelivery, _LoadDelivery]]:
    """Yield each delivery that is flagged, or perhaps is, to the connection that received the
    attempt last, and that earlier one."""
    latest: dict[_Attempt, _LoadDelivery] = {}
    for came in sorted(_came(history), key=lambda one: (one.at_ns, one.tag)):
        before = latest.get(came.attempt)
        if came.flagged is not False and before is not None and before.channel == came.channel:
            yield before, came
        latest[came.attempt] = came


def _came(history: History) -> Iterator[_LoadDelivery]:
    rows, loads = history.tables.get("deliveries", {}), history.facts.way_numbers.direct_load
    names = ("received_ns", "producer", "sequence", "attempt", "consumer", "connection", "tag")
    columns = (rows.get(name, []) for name in (*names, "via", "redelivered"))
    for at_ns, *of, consumer, connection, tag, via, flag in zip(*columns, strict=True):
        if via in loads and isinstance(at_ns, int) and isinstance(tag, int):
            producer, sequence, attempt = of
            yield _LoadDelivery(
                at_ns,
                (producer, sequence, attempt),
                (consumer, connection),
                tag,
                None if flag == Redelivered.NOT_REPORTED else flag == Redelivered.YES,
            )


def _unclear_ns(history: History) -> dict[_Channel, list[int]]:
    """Return when each connection requeued something, and no row says which of several messages
    that it held."""
    held, unclear = (
        defaultdict[_Channel, _HeldMessages](_HeldMessages),
        defaultdict[_Channel, list[int]](list),
    )
    for at_ns, kind, channel, first, last, attempt in sorted(_steps(history), key=_in_order):
        own = held[channel]
        if kind == _CAME:
            own.add(first, attempt)
        elif kind == _ANSWERED or first >= 0:
            own.remove(first, last)
        elif len(own.copies) > 1:
            unclear[channel].append(at_ns)
        elif own.tags:
            own.remove(own.tags[0], own.tags[-1])
    return unclear


_Step = tuple[int, int, _Channel, int, int, _Attempt]
_NO_ATTEMPT: _Attempt = (None, None, None)


def _in_order(step: _Step) -> tuple[int, int]:
    return step[0], step[1]


def _steps(history: History) -> Iterator[_Step]:
    """Yield what changes the messages that a connection holds: (time, kind, connection, first and
    last tag, attempt); tags of -1 are not on record."""
    for came in _came(history):
        yield came.at_ns, _CAME, came.channel, came.tag, came.tag, came.attempt
    rows = history.tables.get("acknowledgements", {})
    names = ("written_ns", "consumer", "connection", "first_tag", "last_tag")
    for at_ns, consumer, connection, first, last in zip(
        *(rows.get(name, []) for name in names), strict=True
    ):
        if isinstance(at_ns, int) and isinstance(first, int) and isinstance(last, int):
            yield at_ns, _ANSWERED, (consumer, connection), first, last, _NO_ATTEMPT
    rows = history.tables.get("client_events", {})
    details = rows.get("detail") or [None] * len(rows.get("kind", []))
    columns = (rows.get(name, []) for name in ("at_ns", "worker", "connection", "kind"))
    for at_ns, worker, connection, kind, detail in zip(*columns, details, strict=True):
        if kind == _REQUEUED and isinstance(at_ns, int):
            tag = _tag(detail)
            yield at_ns, _GAVE_BACK, (worker, connection), tag, tag, _NO_ATTEMPT


def _tag(detail: Cell) -> int:
    text = str(detail or "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else -1
