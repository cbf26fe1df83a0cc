"""Whose sends failed under a fault, whom he asked for the way then, and when he learnt better.

1. Whom a client asked, and what its route had, it told itself, up to a quarter of a second late
   (routes.py).
2. A route is right again for a publisher that has lost a master which it had when the fault came:
   the one that hung is no more in it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.run_folder.manifest import Manifest
from harness.run_folder.rows import ClientEvent
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.sends import Sends, Sent
from spark_analysis.schema.views import ROUTE, broker_in, sentences

NS = 1e9
ATTACHED = "attached"


@dataclass(frozen=True, slots=True)
class Failing:
    """One publisher in one window. Times are seconds from the fault on; None: never, or
    unknown."""

    window: int
    publisher: str
    name_server: str  # the host of its name server when the fault began; "": unknown
    sent: int
    failed: int
    sent_by_then: int  # until the last one failed
    first_failed_s: float | None
    last_failed_s: float | None
    turned_s: float | None  # when it asked another name server
    turned_to: str
    left_out_s: float | None  # when its route lost a master that it had
    left_out: str  # that master's name

    @property
    def share(self) -> float:
        """Of what was sent until the last one failed."""
        return self.failed / self.sent_by_then if self.sent_by_then else 0.0


def failing(
    manifest: Manifest, facts: Facts, sends: Sends, clients: Iterable[ClientEvent]
) -> tuple[Failing, ...]:
    """Window by window, publishers in the order of their numbers."""
    events: dict[int, list[ClientEvent]] = {}
    for event in sorted(clients, key=lambda one: one.at_ns):
        events.setdefault(event.worker, []).append(event)
    origins = {window.number: window.origin_ns for window in facts.windows}
    names = {worker.number: worker.name for worker in manifest.workers}
    rows = (row for row in sends.sends if row.window in origins and row.producer in names)
    return tuple(
        _failing(row, names, events.get(row.producer, []), origins[row.window])
        for row in sorted(rows)
    )


def _failing(
    row: Sent, names: Mapping[int, str], events: list[ClientEvent], origin_ns: int
) -> Failing:
    name_server, turned_ns, turned_to = _turned(events, origin_ns)
    left_ns, left_out = _left_out(events, origin_ns)
    return Failing(
        window=row.window,
        publisher=names[row.producer],
        name_server=name_server,
        sent=row.sent,
        failed=row.failed,
        sent_by_then=row.sent_by_then,
        first_failed_s=_seconds(row.first_failed_ns),
        last_failed_s=_seconds(row.last_failed_ns),
        turned_s=_seconds(turned_ns),
        turned_to=turned_to,
        left_out_s=_seconds(left_ns),
        left_out=left_out,
    )


def _turned(events: list[ClientEvent], origin_ns: int) -> tuple[str, int | None, str]:
    """Return its name server when the fault began, when it turned to another, and to which."""
    attachments = [one for one in events if one.kind == ATTACHED and one.detail]
    before = [one.detail for one in attachments if one.at_ns < origin_ns]
    name_server = before[-1] if before else ""
    later = (one for one in attachments if one.at_ns >= origin_ns and one.detail != name_server)
    turned = next(later, None) if name_server else None
    return (
        (name_server, turned.at_ns - origin_ns, turned.detail)
        if turned
        else (name_server, None, "")
    )


def _left_out(events: list[ClientEvent], origin_ns: int) -> tuple[int | None, str]:
    before: set[str] = set()
    for event in events:
        if event.kind != ROUTE:
            continue
        there = set(_masters(event.detail))
        if event.at_ns < origin_ns:
            before = there
        elif there and (gone := before - there):
            return event.at_ns - origin_ns, ", ".join(sorted(gone))
    return None, ""


def _masters(detail: str) -> Iterator[str]:
    """Of a client's route; none where the library had none."""
    for shown in map(broker_in, sentences(detail)):
        if shown is not None and shown.id == 0:
            yield shown.broker


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / NS
