"""Each publisher's sends second by second, a chart and no verdict; and whose sends failed under a
fault and how, whom he asked for the way then, and when he learnt better.

1. Whom a client asked, and what its route had, it told itself, up to a quarter of a second late
   (routes.py).
2. A route is right again for a publisher that has lost a master which it had when the fault came:
   the one that hung is no more in it.
3. A second is that in which something was sent; it fails if one of its sends did. Seconds of one
   sort that follow each other are one stretch. A second in which nothing was sent is none.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.run_folder.manifest import Manifest
from harness.run_folder.rows import ClientEvent
from harness.view.grouping import by_key
from harness.view.naming import counted_text, failed_as
from harness.view.observations import Observation
from harness.view.routes import ATTACHED, RouteRow, Stretch
from harness.view.summary import NS
from spark_analysis.schema.curves import Sending
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.sends import Sends, Sent
from spark_analysis.schema.views import ROUTE, broker_in, sentences

WELL, FAILING = "well", "failing"


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
    answers: tuple[tuple[str, int], ...] = ()  # how so many of them failed; empty: not recorded

    @property
    def share(self) -> float:
        """Of what was sent until the last one failed."""
        return self.failed / self.sent_by_then if self.sent_by_then else 0.0


def failing(
    manifest: Manifest,
    facts: Facts,
    sends: Sends,
    clients: Iterable[ClientEvent],
    meanings: Mapping[str, str],
) -> tuple[Failing, ...]:
    """Window by window, publishers in the order of their numbers. `meanings`: what their
    client reports of attempts that failed (detail.failures_of)."""
    events = by_key(sorted(clients, key=lambda one: one.at_ns), lambda one: one.worker)
    origins = {window.number: window.origin_ns for window in facts.windows}
    names = manifest.worker_names
    answers = defaultdict[tuple[int, int], Counter[str]](Counter)
    for one in sends.answers:
        how = failed_as(one.outcome, one.answer, meanings)
        answers[one.window, one.producer][how] += one.attempts
    rows = (row for row in sends.sends if row.window in origins and row.producer in names)
    return tuple(
        _failing(
            row,
            names[row.producer],
            events.get(row.producer, []),
            origins[row.window],
            answers.get((row.window, row.producer), Counter()),
        )
        for row in sorted(rows)
    )


def answers_text(found: Sequence[Failing]) -> str:
    """Return `127,301 answered with nack, 4 on a lost connection`; of a single answer to all no
    number; "" if none is recorded."""
    numbers = Counter[str]()
    for one in found:
        numbers.update(dict(one.answers))
    if not numbers:
        return ""
    unknown = sum(one.failed for one in found) - numbers.total()
    if len(numbers) == 1 and not unknown:
        return next(iter(numbers))
    return counted_text(numbers) + (f", {unknown:,} not recorded" if unknown > 0 else "")


def of_first_fault(found: Sequence[Failing]) -> list[Failing]:
    """Return the rows of one run that count every failed send once."""
    first = min((one.window for one in found), default=0)
    return [one for one in found if one.window == first]


def failed_text(found: Iterable[Failing], fault: str = "") -> str:
    """Return `30 of 118 attempts to send failed`; "" if none failed. `fault`: after which the last
    one is timed, of rows of one run."""
    sent = failed = 0
    last_s = 0.0
    for one in found:
        sent, failed = sent + one.sent, failed + one.failed
        last_s = max(last_s, one.last_failed_s or 0.0)
    if not failed:
        return ""
    last = f", the last {after_text(last_s)} after {fault}" if fault else ""
    return f"{failed:,} of {sent:,} attempt{'s' if sent > 1 else ''} to send failed{last}"


def failures_text(found: Sequence[Failing], fault: str = "") -> str:
    """Return the same with how they failed: `…, the last 4.5 s after the fault: answered with
    nack`."""
    text = failed_text(found, fault)
    return f"{text}: {answers_text(found) or 'refused, or without an answer'}" if text else ""


def after_text(seconds: float) -> str:
    """Return `4.5 s`, and `0.02 s` of less than a second: `0.0 s` would be the fault itself."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"


def observe(found: Iterable[Failing]) -> Iterator[Observation]:
    """Yield a line for each fault after which sends failed."""
    for window, own in by_key(found, lambda one: one.window).items():
        if text := failures_text(own, "the fault"):
            yield Observation(
                "failed_sends", window, True, f"fault {window}: with retries, {text}"
            )


def failed_sends(found: Iterable[Failing]) -> dict[int, str]:
    """Return, by window in which sends failed, how many did, and when every publisher's route had
    lost the master."""
    texts = {}
    for window, own in by_key(found, lambda one: one.window).items():
        if not (text := failed_text(own, "the fault")):
            continue
        known = [one.left_out_s for one in own if one.left_out_s is not None]
        if known and len(known) == len(own):
            text += f"; each publisher's route lacked the master from {max(known):.1f} s on"
        texts[window] = text
    return texts


def _failing(
    row: Sent,
    publisher: str,
    events: list[ClientEvent],
    origin_ns: int,
    answers: Counter[str],
) -> Failing:
    name_server, turned_ns, turned_to = _turned(events, origin_ns)
    left_ns, left_out = _left_out(events, origin_ns)
    return Failing(
        window=row.window,
        publisher=publisher,
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
        answers=tuple(answers.items()),
    )


def _turned(events: list[ClientEvent], origin_ns: int) -> tuple[str, int | None, str]:
    """Return its name server when the fault began, when it turned to another, and to which."""
    attachments = [one for one in events if one.kind == ATTACHED and one.detail]
    before = [one.detail for one in attachments if one.at_ns < origin_ns]
    name_server = before[-1] if before else ""
    later = (one for one in attachments if one.at_ns >= origin_ns and one.detail != name_server)
    turned = next(later, None) if name_server else None
    if turned is None:
        return name_server, None, ""
    return name_server, turned.at_ns - origin_ns, turned.detail


def _left_out(events: list[ClientEvent], origin_ns: int) -> tuple[int | None, str]:
    before: set[str] = set()
    for event in events:
        if event.kind != ROUTE:
            continue
        shown = [one for one in map(broker_in, sentences(event.detail)) if one is not None]
        there = {one.broker for one in shown if one.id == 0}
        if event.at_ns < origin_ns:
            before = there
        # A route of slaves alone has lost its masters. Without any broker there was no route.
        elif shown and (gone := before - there):
            return event.at_ns - origin_ns, ", ".join(sorted(gone))
    return None, ""


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / NS


def sending(manifest: Manifest, seconds: Iterable[Sending]) -> tuple[RouteRow, ...]:
    """A row a publisher, in the order of their numbers."""
    by_worker = by_key(sorted(seconds), lambda one: one.producer)
    names = manifest.worker_names
    return tuple(
        RouteRow(names[number], tuple(_stretches(names[number], own)))
        for number, own in sorted(by_worker.items())
        if number in names
    )


def _stretches(name: str, seconds: Sequence[Sending]) -> Iterator[Stretch]:
    # A send counts in its own second, whenever it failed. Of seconds in a row the number less the
    # place is the same.
    numbered = [
        (FAILING if one.failed else WELL, one.second - place, one)
        for place, one in enumerate(seconds)
    ]
    for (state, _), group in groupby(numbered, key=lambda each: each[:2]):
        own = [second for *_, second in group]
        sent, failed = sum(one.sent for one in own), sum(one.failed for one in own)
        from_s, until_s = own[0].second, own[-1].second + 1
        words = f"{failed:,} failed, then or later" if failed else "none failed"
        title = f"{name}: of {sent:,} sent from +{from_s} s to +{until_s} s, {words}"
        text = f"{_share_text(failed, sent)} failed" if failed else ""
        yield Stretch(from_s * NS, until_s * NS, state, text, title)


def _share_text(failed: int, sent: int) -> str:
    """Return `25%`; a part never reads as all, or as nothing."""
    least, most = (0.01, 1.0) if failed == sent else (0.01, 0.99)
    return f"{min(max(failed / sent, least), most):.0%}"
