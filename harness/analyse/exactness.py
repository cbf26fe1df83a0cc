"""A check that the analysis finds exactly what a misbehaving cluster admits, no more and no less.

Compared are classes of findings, each a set of messages. `must` is what the truth proves to be in
the class, `may` what it allows; found has to lie between. A class that no node spoiled has to be
empty, so an honest cluster allows nothing but what a fault leaves open. What a node admits is
done to one attempt: a message that was retried has others. What clients recorded tells which
attempts were confirmed, and what reached them; the class is the analysis's own.

lost, by drop        Admitted before it is confirmed. A crash may swallow the confirm, and then the
                     retry is stored. Allowed: acknowledged, not delivered, and each attempt that
                     was confirmed is a dropped one. Proved: each attempt that was sent at all.
                     Without a confirm a dropped message is lost_indeterminate, no violation.
lost, by             What a survivor held when it took the queue over is not lost (a log's: when it
  confirm-early,     began as a master), nor what a consumer had from the dead or cut master. All
  stale-guard,       the rest is, without faults nothing: allowed and proved are acknowledged,
  truncate,          each confirmed attempt admitted, none held, none delivered. A member of a
  without-RULE       group admits what it cuts from its log.
lost, by forget      What reached the consumer before its channel ended is delivered. Allowed and
                     proved: acknowledged, forgotten, not delivered.
stranded, by any of  What was lost by these words, and an audit found in the log of a broker that
  these              no client reads it from: of a master that is a slave now, of a slave's longer
                     log. It is that, and is not lost.
attempt_lost, by     The same of a message whose other attempt came: the copy that was confirmed is
  drop,              gone, the message is not. Allowed and proved: that attempt was confirmed, and
  confirm-early,     dropped, early, let out or cut off and not held, or forgotten; it never came,
  stale-guard,       and its message did.
  truncate,
  forget
forgotten, by forget It reached the consumer and was not acknowledged, and was not requeued when
                     its channel ended. Allowed: admitted and delivered. Proved: no delivery of the
                     attempt was ever acknowledged, the last came by LOAD, and its connection's end
                     is on record. An acknowledgement that the end met on its way is no lapse of
                     the client's, so then the class is silent.
stored_twice, by     Allowed: admitted. The twin goes first, so a confirm proves that both are held
  duplicate          everywhere. A mirror that takes over flags all that it holds: then the second
                     may be taken for a redelivery. Proved: confirmed, never seen flagged, and two
                     deliveries of it came with no window between them.
ambiguous            Allowed, by any cause: came unflagged again, with a window between the two;
                     or came flagged, though an earlier delivery of the attempt was acknowledged
                     before it: that may have been on its way still.
came again, by       Every admitted attempt with a confirm has a duplicate delivery of whatever
  duplicate          provenance but the publisher's own retry.
reordered, by        Allowed: the overtaken one, where both are of one producer and key: a retry
  reorder            has a place in the order, too, once it is confirmed. Proved: both at their
                     first attempt, confirmed so, and first delivered so, unflagged, to one
                     consumer; a crash leaves open where the others stood.
stored_twice, by     Allowed: admitted. Who commits what is out already puts no other one, unless
  half               its broker died between, or had checked it and stored its half again.
rolled_back_but_     Allowed: admitted. Proved: rolled back by its producer, and delivered.
  delivered, by half
corrupt, by corrupt  Allowed: admitted. Proved: confirmed, for then it is delivered or found.
redelivery_after_ack Allowed: admitted; and a twin, which a mirror that takes over may give out
  , by redeliver     when we had acknowledged the first. Proved: the master itself gave it out
                     again, both deliveries came by one connection AGAIN_NS apart, and we had
                     acknowledged the first a second before every window between them. A successor
                     may be quicker, a connection may have ended, a fault may have met our
                     acknowledgement on its way: then it is a redelivery like others.
came again, by       Every admitted attempt has a duplicate delivery: the master requeues it, or
  redeliver          its successor does, which never heard of the acknowledgement.
offset_rollback, by  Allowed: admitted. Proved: both deliveries came by one connection, REWOUND_NS
  rewind             apart or more, and no window between them: long before the second its group
                     had told that it was past it. Then it came again, too.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path

from harness.analyse.admitted import HELD, REDELIVERED, Admission, read
from harness.analyse.seen import Name, Seen, Try, seen_in
from harness.plan.misbehave import OF_LEDGERS, OF_REPLICAS
from harness.run_folder import rows
from harness.run_folder.manifest import Manifest
from harness.run_folder.operations import leadership_changes
from spark_analysis.schema.body import Identity
from spark_analysis.schema.facts import Unsettled
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import REGISTER, details
from spark_analysis.schema.ways import way_numbers
from spark_analysis.schema.words import Redelivered

AGAIN_NS, REWOUND_NS = 1_500_000_000, 8_000_000_000
ON_ITS_WAY_NS = 1_000_000_000
# Lost unless the next master holds it. No node admits to hold what was cut off a log.
LEFT_TO_SUCCESSORS = ("confirm-early", "stale-guard", "truncate", *OF_LEDGERS, *OF_REPLICAS)

# Class -> the rows of `affected` that belong to it; no detail means any. All that breaks a
# promise, and the surplus deliveries that do or may.
CLASSES: dict[str, tuple[str, tuple[str, ...]]] = {
    **{each.name: (each.name, ()) for each in REGISTER if each.grade is Grade.VIOLATION},
    **{
        detail.name: (each.name, (detail.name,))
        for each in REGISTER
        for detail in each.details
        if detail.grade is not Grade.HARMLESS
    },
}
CAME_AGAIN = "came again"
_AGAIN = ("duplicated", tuple(one for one in details("duplicated") if one != "publisher_retry"))


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
    """Compare one judged run with its admissions. Raise Unreadable, ValueError, OSError."""
    seen = seen_in(folder, way_numbers(manifest.ways))
    seen.unsettled = (
        *manifest.windows,
        *leadership_changes(manifest.operations, manifest.process_ends),
    )
    in_memory = replace(findings, affected=tuple(findings.affected))  # each class asks for them
    return compared(read(folder, manifest.run_number), seen, in_memory)


def compared(
    admissions: Iterable[Admission], seen: Seen, findings: Findings
) -> tuple[Compared, ...]:
    done = defaultdict[str, set[Try]](set)
    for admission in admissions:
        done[admission.kind].add(_try(admission.message))
    gone_may, copies_lost = _lost(done, seen), _copies_lost(done, seen)
    gone_must = gone_may - _undecided(done, seen)
    expected = {
        "lost": (gone_must - seen.audited, gone_may - seen.audited),
        "stranded": (gone_must & seen.audited, gone_may & seen.audited),
        "attempt_lost": (copies_lost, copies_lost),
        "not_redelivered": _forgotten(done, seen),
        "corrupt": (_names(filter(seen.is_confirmed, done["corrupt"])), _names(done["corrupt"])),
        "reordered": _reordered(admissions, seen),
        "stored_twice": (
            _stored_twice(done, seen),
            _names(done["duplicate"] | done["half"]),
        ),
        "rolled_back_but_delivered": (_came_undecided(done, seen), _names(done["half"])),
        "ambiguous": (frozenset[Name](), _ambiguous(seen)),
        "redelivery_after_ack": (
            _after_ack(done, seen),
            _names(done["redeliver"] | done["duplicate"]),
        ),
        # The master may give out again what we had not acknowledged yet.
        "redelivered_without_cause": (
            frozenset[Name](),
            _names(done["redeliver"] | done["duplicate"]),
        ),
        "offset_rollback": (_rewound(done, seen), _names(done["rewind"])),
    }
    nothing = frozenset[Name](), frozenset[Name]()
    classes = [
        Compared(what, *expected.get(what, nothing), _found(findings, *rows_of))
        for what, rows_of in CLASSES.items()
    ]
    again = _found(findings, *_AGAIN)
    must = _names({*filter(seen.is_confirmed, done["duplicate"]), *done["redeliver"]})
    must |= _rewound(done, seen)
    return (*classes, Compared(CAME_AGAIN, must, must | again, again))


# --- what the truth implies ----------------------------------------------------------------------


def _lost(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    """All that may be lost."""
    held = _names(done[HELD])
    early = {
        name
        for kind in LEFT_TO_SUCCESSORS
        for name in _names(done[kind]) - held
        if seen.confirmed.get(name, set()) <= done[kind]
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
    """Return the messages dropped at one attempt whose other sent attempt has an unknown fate."""
    return frozenset(
        name for name in _names(done["drop"]) if not seen.sent.get(name, set()) <= done["drop"]
    )


def _copies_lost(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    """Return the lost copies of messages that came all the same, by another attempt."""
    unsafe = set[Try]().union(*(done[kind] for kind in LEFT_TO_SUCCESSORS))
    gone = done["drop"] | (unsafe - done[HELD]) | done["forget"]
    return _names(
        tried
        for tried in filter(seen.is_confirmed, gone)
        if seen.deliveries.get(tried[:2]) and not seen.of(tried)
    )


def _forgotten(done: dict[str, set[Try]], seen: Seen) -> tuple[frozenset[Name], frozenset[Name]]:
    came = [tried for tried in done["forget"] if seen.of(tried)]
    # A fault may have taken what was given out before it was confirmed.
    sure = [tried for tried in came if seen.is_confirmed(tried) or not seen.unsettled]
    return _names(tried for tried in sure if _is_forgotten(seen.of(tried), seen)), _names(came)


def _is_forgotten(deliveries: list[rows.Delivery], seen: Seen) -> bool:
    last = deliveries[-1]
    ended_ns = seen.ended_ns.get((last.consumer, last.connection))
    is_over = ended_ns is not None and ended_ns >= last.received_ns
    by_load = last.via in seen.ways.direct_load
    return is_over and by_load and not any(map(seen.acknowledged, deliveries))


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
        consumers = _certain_consumer(_try(late), seen), _certain_consumer(_try(by), seen)
        if consumers[0] is not None and consumers[0] == consumers[1]:
            must.add(name)
    return frozenset(must), frozenset(may)


def _is_one_line(late: Identity, by: Identity) -> bool:
    """Return whether their order is promised."""
    return (late.producer, late.key) == (by.producer, by.key)


def _certain_consumer(tried: Try, seen: Seen) -> int | None:
    """Return the first consumer of a message, if its place in the order is certain."""
    first = next(iter(seen.deliveries.get(tried[:2], ())), None)
    if first is None or first.redelivered != Redelivered.NO or not seen.is_confirmed(tried):
        return None
    return first.consumer if tried[2] == first.attempt == 1 else None


def _stored_twice(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    return _names(
        tried
        for tried in filter(seen.is_confirmed, done["duplicate"])
        if all(delivery.redelivered == Redelivered.NO for delivery in seen.of(tried))
        and any(not _between(seen, *pair) for pair in pairwise(seen.of(tried)))
    )


def _came_undecided(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    return _names(tried for tried in done["half"] & seen.rolled_back if seen.of(tried))


def _ambiguous(seen: Seen) -> frozenset[Name]:
    """Return the duplicates whose cause clients cannot know."""
    tries = {
        (*name, delivery.attempt)
        for name, deliveries in seen.deliveries.items()
        for delivery in deliveries
    }
    return _names(
        tried
        for tried in tries
        if any(_is_across_a_window(seen, *two) for two in pairwise(seen.of(tried)))
        or any(_is_acknowledged_before(seen, *two) for two in combinations(seen.of(tried), 2))
    )


def _is_across_a_window(seen: Seen, earlier: rows.Delivery, later: rows.Delivery) -> bool:
    return later.redelivered == Redelivered.NO and bool(_between(seen, earlier, later))


def _is_acknowledged_before(seen: Seen, earlier: rows.Delivery, later: rows.Delivery) -> bool:
    written = (frame.written_ns for frame in seen.acknowledged(earlier))
    return later.redelivered == Redelivered.YES and any(at < later.received_ns for at in written)


def _after_ack(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    return _names(
        tried
        for tried in done[REDELIVERED]
        if any(_came_late(seen, *pair) for pair in combinations(seen.of(tried), 2))
    )


def _rewound(done: dict[str, set[Try]], seen: Seen) -> frozenset[Name]:
    return _names(
        tried
        for tried in done["rewind"]
        if any(
            _is_one_connection(*pair)
            and pair[1].received_ns - pair[0].received_ns >= REWOUND_NS
            and not _between(seen, *pair)
            for pair in combinations(seen.of(tried), 2)
        )
    )


def _is_one_connection(earlier: rows.Delivery, later: rows.Delivery) -> bool:
    return (earlier.consumer, earlier.connection) == (later.consumer, later.connection)


def _came_late(seen: Seen, earlier: rows.Delivery, later: rows.Delivery) -> bool:
    """Return whether it came by the same connection, far enough apart, and not because of a
    fault."""
    far_apart = later.received_ns - earlier.received_ns >= AGAIN_NS
    return _is_one_connection(earlier, later) and far_apart and _arrived(seen, earlier, later)


def _arrived(seen: Seen, earlier: rows.Delivery, later: rows.Delivery) -> bool:
    """Return whether no fault before `later` could meet our acknowledgement of `earlier` on its
    way."""
    between = _between(seen, earlier, later)
    if not between:
        return True
    latest_ns = min(window.origin_ns for window in between) - ON_ITS_WAY_NS
    return any(frame.written_ns < latest_ns for frame in seen.acknowledged(earlier))


def _between(seen: Seen, earlier: rows.Delivery, later: rows.Delivery) -> list[Unsettled]:
    """The windows that had begun before `later` and were not over before `earlier`."""
    return [
        window
        for window in seen.unsettled
        if window.origin_ns < later.received_ns
        and (window.over_ns is None or window.over_ns >= earlier.received_ns)
    ]


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
