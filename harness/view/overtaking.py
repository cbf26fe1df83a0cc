"""Which message overtook one that came out of order: the first that was sent later and delivered
earlier, of one sender, key and queue (docs/verdicts.md 6).

The verdict is the analysis's own; this finds one message that shows it. If no row shows it,
there is none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.claims.stories import message_name
from harness.run_folder import rows
from harness.run_folder.rows import attempt_key
from harness.view.naming import has_queue, queue_text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.messages import Affected
from spark_analysis.schema.words import Outcome

OUT_OF_ORDER = ("reordered", "reorder_unknown")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Rows of messages that may have overtaken those that are shown: of their senders and keys,
    sent and delivered meanwhile."""

    attempts: Sequence[rows.Attempt] = ()
    deliveries: Sequence[rows.Delivery] = ()


@dataclass(frozen=True, slots=True)
class Overtaking:
    """A message that came before another one, though it was sent later; both have this key.
    `came`, `first`: the first delivery of each."""

    sequence: int
    key: int
    sent_ns: int
    came: rows.Delivery
    own_sent_ns: int
    first: rows.Delivery

    def sentence(self, facts: Facts) -> str:
        """Return when both were sent and delivered, to which queues, and what lay between."""
        sent, came, own_sent, own_came = (
            f"+{ns / 1e9:.3f} s"
            for ns in (
                *(self.sent_ns, self.came.received_ns),
                *(self.own_sent_ns, self.first.received_ns),
            )
        )
        return (
            f"{message_name(self.sequence)} of the same key ({self.key}) was sent later, at "
            f"{sent}, but delivered first, at {came}; {message_name(self.first.sequence)} was "
            f"sent at {own_sent} and delivered at {own_came}{self._between(facts)}"
        )

    def _between(self, facts: Facts) -> str:
        """Return `; between the two sends fault 1 (kill) began, and the key moved from …`."""
        parts = []
        for window in facts.windows:
            name = f"fault {window.number} ({window.kind})"
            if self.own_sent_ns < window.origin_ns <= self.sent_ns:
                parts.append(f"{name} began")
            if window.ended_ns and self.own_sent_ns < window.ended_ns <= self.sent_ns:
                parts.append(f"{name} was undone")
        places = self.first.broker, self.came.broker
        if places[0] != places[1] and all(map(has_queue, places)):
            old, new = map(queue_text, places)
            parts.append(f"the key moved from {old} to {new}")
        return f"; between the two sends {' and '.join(parts)}" if parts else ""


def overtaking(
    row: Affected,
    attempts: Iterable[rows.Attempt],
    settlements: Iterable[rows.Settlement],
    deliveries: Iterable[rows.Delivery],
    others: Neighbours,
    facts: Facts,
) -> Overtaking | None:
    """Return who overtook the message of `row`. The tables before `others` are of that message."""
    if row.measure not in OUT_OF_ORDER:
        return None
    of_row = (one for one in deliveries if attempt_key(one)[:2] == (row.producer, row.sequence))
    first = next((one for one in of_row if one.received_ns == row.at_ns), None)
    own = next(
        (one for one in attempts if first and attempt_key(one) == attempt_key(first)),
        None,
    )
    if first is None or own is None:
        return None
    answers = (one for one in settlements if attempt_key(one) == attempt_key(own))
    confirms = (one.settled_ns for one in answers if one.outcome == Outcome.CONFIRMED)
    confirmed_ns = min(confirms, default=None)  # None: it never was
    later = {attempt_key(one): one for one in others.attempts if _is_later(one, own, confirmed_ns)}
    found = [
        one
        for one in _first_deliveries(row, others.deliveries, facts)
        if attempt_key(one) in later
    ]
    if not found:
        return None
    same = first.consumer, first.redelivered  # that got both, flagged alike, comes first
    came = min(found, key=lambda one: ((one.consumer, one.redelivered) != same, one.received_ns))
    attempt = later[attempt_key(came)]
    return Overtaking(*(attempt.sequence, attempt.key, attempt.sent_ns, came, own.sent_ns, first))


def _is_later(one: rows.Attempt, own: rows.Attempt, confirmed_ns: int | None) -> bool:
    """Return whether an attempt of the same line was certainly sent after `own`."""
    if (one.producer, one.key, one.queue) != (own.producer, own.key, own.queue):
        return False
    if one.sequence == own.sequence:
        return False
    after_confirm = confirmed_ns is not None and confirmed_ns < one.sent_ns
    return after_confirm or (one.connection == own.connection and own.sent_ns < one.sent_ns)


def _first_deliveries(
    row: Affected, deliveries: Iterable[rows.Delivery], facts: Facts
) -> Iterable[rows.Delivery]:
    """Return the first delivery of each message of the sender that came before the row's."""
    found: dict[int, rows.Delivery] = {}
    elsewhere, audit = facts.of_other_groups(row.queue), facts.way_numbers.audit
    for one in sorted(deliveries, key=lambda each: each.received_ns):
        if (
            one.producer == row.producer
            and one.received_ns < row.at_ns
            and one.header_ok
            and one.run_ok
            and one.via not in audit
            and one.queue not in elsewhere
        ):
            found.setdefault(one.sequence, one)
    return found.values()
