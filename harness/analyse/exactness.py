"""Whether the analysis found exactly what a misbehaving cluster admits: no more and no less.

Compared are classes of findings, each a set of messages. `must` is what the truth proves to be in
the class, `may` what it allows; found has to lie between. A class that nobody spoiled has to be
empty, so an honest cluster allows nothing at all. What a node admits is done to one attempt: a
message that was retried has others. What clients recorded tells which attempts were confirmed,
and what reached them; the class is the analysis's own.

lost, by drop        Admitted before it is confirmed. A crash may swallow the confirm, and then the
                     retry is stored. Allowed: acknowledged, not delivered, and each attempt that
                     was confirmed is a dropped one. Proved: each attempt that was sent at all.
                     Without a confirm a dropped message is lost_indeterminate, no violation.
lost, by             What a survivor held when it took the queue over is not lost, nor what a
  confirm-early      consumer had from the dead master. All the rest is, so in a calm run nothing:
                     allowed and proved are acknowledged, each confirmed attempt early, none held,
                     none delivered.
lost, by forget      What reached the consumer before its channel ended is delivered. Allowed and
                     proved: acknowledged, forgotten, not delivered.
stored_twice, by     Allowed: admitted. The twin goes first, so a confirm proves that both are held
  duplicate          everywhere. A mirror that takes over flags all that it holds: then the second
                     may be taken for a redelivery. Proved: confirmed, and never seen flagged.
came again, by       Every admitted attempt with a confirm has a surplus delivery of whatever
  duplicate          provenance but the publisher's own retry.
reordered, by        Allowed: the overtaken one, where both are of one producer and key and at
  reorder            their first attempt. Proved: both confirmed so, and first delivered so,
                     unflagged; a crash makes the others not_judged.
corrupt, by corrupt  Allowed: admitted. Proved: confirmed, for then it is delivered or found.
redelivery_after_ack Allowed: admitted. Proved: the master itself gave it out again, and both
  , by redeliver     deliveries came by one connection AGAIN_NS apart. A successor may be quicker,
                     and a connection may have ended: then it is a redelivery like others.
                     By nobody: an acknowledgement that was on its way when a fault took hold is
                     lost with the master, and a takeover may last longer than the second that
                     the class allows for. Allowed, too: acknowledged from IN_FLIGHT_NS before a
                     window's origin until its end, and come again after the origin.
came again, by       Every admitted attempt has a surplus delivery: the master requeues it, or its
  redeliver          successor does, who never heard of the acknowledgement.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.analyse import rows
from harness.analyse.admitted import HELD, REDELIVERED, Admission, read
from harness.analyse.seen import Name, Seen, Try, seen_in
from harness.run_folder.manifest import Manifest
from spark_analysis.schema.body import Identity
from spark_analysis.schema.facts import Window
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.words import Redelivered

AGAIN_NS = 1_500_000_000
IN_FLIGHT_NS = 1_000_000_000

# Class -> the rows of `affected` that belong to it; no detail means any.
CLASSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "lost": ("lost", ()),
    "stranded": ("stranded", ()),
    "refused_but_delivered": ("refused_but_delivered", ()),
    "unexpected": ("unexpected", ()),
    "corrupt": ("corrupt", ()),
    "reordered": ("reordered", ()),
    "stored_twice": ("duplicated", ("stored_twice",)),
    "diverged": ("duplicated", ("diverged",)),
    "ambiguous": ("duplicated", ("ambiguous",)),
    "redelivery_after_ack": ("duplicated", ("redelivery_after_ack",)),
}
CAME_AGAIN = "came again"
_AGAIN = ("duplicated", ("stored_twice", "diverged", "redelivery", "redelivery_after_ack"))


@dataclass(frozen=True, slots=True)
class Compared:
    """One class of one run."""

    what: str
    must: frozenset[Name]
    may: frozenset[Name]
    found: frozenset[Name]

    @property
    def missed(self) -> frozenset[Name]:
        return self.must - self.found

    @property
    def invented(self) -> frozenset[Name]:
        return self.found - self.may

    @property
    def exact(self) -> bool:
        return not self.missed and not self.invented

    def __str__(self) -> str:
        text = f"{self.what}: {len(self.found)} found, {len(self.must)} to be found"
        for word, names in (("missed", self.missed), ("invented", self.invented)):
            if names:
                text += f", {word} {sorted(names)[:5]}"
        return text


def compare(folder: Path, manifest: Manifest, findings: Findings) -> tuple[Compared, ...]:
    """Of one run that was judged. Raises Unreadable, ValueError, OSError."""
    seen = seen_in(folder)
    seen.windows = tuple(window for window in manifest.windows if window.origin_ns)
    return compared(read(folder, manifest.run_number), seen, findings)


def compared(
    admissions: Iterable[Admission], seen: Seen, findings: Findings
) -> tuple[Compared, ...]:
    done = defaultdict[str, set[Try]](set)
    for admission in admissions:
        done[admission.kind].add(_try(admission.message))
    lost_may = _lost(done, seen)
    expected = {
        "lost": (lost_may - _undecided(done, seen), lost_may),
        "corrupt": (_names(filter(seen.is_confirmed, done["corrupt"])), _names(done["corrupt"])),
        "reordered": _reordered(admissions, seen),
        "stored_twice": (_stored_twice(done, seen), _names(done["duplicate"])),
        "redelivery_after_ack": (
            _after_ack(done, seen),
            _names(done["redeliver"]) | _acknowledged_in_vain(seen),
        ),
    }
    nothing = frozenset[Name](), frozenset[Name]()
    classes = [
        Compared(what, *expected.get(what, nothing), _found(findings, *rows_of))
        for what, rows_of in CLASSES.items()
    ]
    again = _found(findings, *_AGAIN)
    must = _names({*filter(seen.is_confirmed, done["duplicate"]), *done["redeliver"]})
    return (*classes, Compared(CAME_AGAIN, must, must | again, again))


# --- what the truth implies ----------------------------------------------------------------------


def _lost(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    """All that may be lost."""
    held = _names(done[HELD])
    early = {
        name
        for name in _names(done["confirm-early"]) - held
        if seen.confirmed.get(name, set()) <= done["confirm-early"]
    }
    dropped = {
        name for name in _names(done["drop"]) if seen.confirmed.get(name, set()) <= done["drop"]
    }
    return frozenset(
        name
        for name in early | dropped | _names(done["forget"])
        if seen.confirmed.get(name) and not seen.deliveries.get(name)
    )


def _undecided(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    """Dropped at one attempt; what became of another that was sent, nobody knows."""
    return frozenset(
        name for name in _names(done["drop"]) if not seen.sent.get(name, set()) <= done["drop"]
    )


def _reordered(
    admissions: Iterable[Admission], seen: Seen
) -> tuple[frozenset[Name], frozenset[Name]]:
    must, may = set(), set()
    for admission in admissions:
        late, by = admission.message, admission.by
        if admission.kind != "reorder" or by is None or not _is_one_line(late, by):
            continue
        name = late.producer, late.sequence
        may.add(name)
        if _is_judged(_try(late), seen) and _is_judged(_try(by), seen):
            must.add(name)
    return frozenset(must), frozenset(may)


def _is_one_line(late: Identity, by: Identity) -> bool:
    """Whether their order is promised; a retry's is not."""
    same = (late.producer, late.key) == (by.producer, by.key)
    return same and late.attempt == by.attempt == 1


def _is_judged(tried: Try, seen: Seen) -> bool:
    first = seen.deliveries.get(tried[:2], [])[:1]
    is_plain = bool(first) and first[0].redelivered == Redelivered.NO
    return is_plain and tried[2] == first[0].attempt == 1 and seen.is_confirmed(tried)


def _stored_twice(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    return _names(
        tried
        for tried in filter(seen.is_confirmed, done["duplicate"])
        if all(delivery.redelivered == Redelivered.NO for delivery in seen.of(tried))
    )


def _after_ack(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    return _names(tried for tried in done[REDELIVERED] if _came_late(seen.of(tried)))


def _came_late(deliveries: list[rows.Delivery]) -> bool:
    """Twice by one connection, far enough apart."""
    return any(
        later.received_ns - earlier.received_ns >= AGAIN_NS
        for place, earlier in enumerate(deliveries)
        for later in deliveries[place:]
        if (earlier.consumer, earlier.connection) == (later.consumer, later.connection)
    )


def _acknowledged_in_vain(seen: Seen) -> frozenset[Name]:
    """Came again after a fault that met our acknowledgement on its way."""
    return frozenset(
        name
        for name, deliveries in seen.deliveries.items()
        for window in seen.windows
        if len(deliveries) > 1
        if any(_in_flight(seen, earlier, window) for earlier in deliveries[:-1])
        and deliveries[-1].received_ns > window.origin_ns
    )


def _in_flight(seen: Seen, delivery: rows.Delivery, window: Window) -> bool:
    earliest_ns = window.origin_ns - IN_FLIGHT_NS
    return any(
        earliest_ns <= frame.written_ns
        and (window.ended_ns is None or frame.written_ns <= window.ended_ns)
        for frame in seen.acknowledgements
        if (frame.consumer, frame.connection) == (delivery.consumer, delivery.connection)
        and frame.first_tag <= delivery.tag <= frame.last_tag
    )


# --- helpers -------------------------------------------------------------------------------------


def _found(findings: Findings, measure: str, details: tuple[str, ...]) -> frozenset[Name]:
    return frozenset(
        (row.producer, row.sequence)
        for row in findings.affected
        if row.measure == measure and (not details or row.detail in details)
    )


def _names(tries: Iterable[Try]) -> frozenset[Name]:
    return frozenset((producer, sequence) for producer, sequence, _ in tries)


def _try(message: Identity) -> Try:
    return message.producer, message.sequence, message.attempt
