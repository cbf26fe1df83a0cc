"""The records of clients in a short run, by attempt, for comparison with the truth.

1. They are read whole: only for runs with a misbehaving cluster, which are short.
2. Deliveries are identified ones by load and drain, in delivery order. Those by ways by which
   messages come again are left out.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from harness.run_folder import rows
from spark_analysis.schema.facts import Unsettled
from spark_analysis.schema.ways import WayNumbers, way_numbers
from spark_analysis.schema.words import NEVER_SENT, Fate, Outcome

ROWS_MAX = 1_000_000  # of a table
_DENIALS = {Outcome.REFUSED, Outcome.RETURNED}

Name = tuple[int, int]  # (producer, sequence)
Try = tuple[int, int, int]  # and attempt


@dataclass(slots=True)
class Seen:
    """`unsettled`: the run's windows, whether they opened or not, and its operations. `ways`: of
    its deliveries."""

    sent: dict[Name, set[Try]] = field(default_factory=lambda: defaultdict(set))
    confirmed: dict[Name, set[Try]] = field(default_factory=lambda: defaultdict(set))
    rolled_back: set[Try] = field(default_factory=set)  # sent in a transaction, and surely
    deliveries: dict[Name, list[rows.Delivery]] = field(default_factory=lambda: defaultdict(list))
    audited: set[Name] = field(default_factory=set)  # found where no consumer reads it
    acknowledgements: list[rows.Acknowledgement] = field(default_factory=list)
    ended_ns: dict[tuple[int, int], int] = field(default_factory=dict)  # by worker and connection
    unsettled: tuple[Unsettled, ...] = ()
    ways: WayNumbers = field(default_factory=lambda: way_numbers(()))

    def of(self, tried: Try) -> list[rows.Delivery]:
        """Deliveries of that attempt, in their order."""
        return [it for it in self.deliveries.get(tried[:2], ()) if it.attempt == tried[2]]

    def acknowledged(self, delivery: rows.Delivery) -> list[rows.Acknowledgement]:
        """The frames that cover a delivery."""
        return [
            frame
            for frame in self.acknowledgements
            if (frame.consumer, frame.connection) == (delivery.consumer, delivery.connection)
            and frame.first_tag <= delivery.tag <= frame.last_tag
        ]

    def is_confirmed(self, tried: Try) -> bool:
        return tried in self.confirmed.get(tried[:2], ())


def seen_in(folder: Path, ways: WayNumbers) -> Seen:
    """Raises Unreadable."""
    seen = Seen(ways=ways)
    direct, finds = ways.direct, ways.audit
    for attempt in rows.read(folder, rows.Attempt, ROWS_MAX):
        name = attempt.producer, attempt.sequence
        if attempt.sent_ns != NEVER_SENT:
            seen.sent[name].add((*name, attempt.attempt))
    answers: defaultdict[Try, set[int]] = defaultdict(set)
    for settlement in rows.read(folder, rows.Settlement, ROWS_MAX):
        name = settlement.producer, settlement.sequence
        answers[*name, settlement.attempt].add(settlement.outcome)
        if settlement.outcome == Outcome.CONFIRMED:
            seen.confirmed[name].add((*name, settlement.attempt))
    for terms in rows.read(folder, rows.TermsRow, ROWS_MAX):
        tried = terms.producer, terms.sequence, terms.attempt
        if terms.fate != Fate.NONE and answers[tried] and answers[tried] <= _DENIALS:
            seen.rolled_back.add(tried)
    for delivery in rows.read(folder, rows.Delivery, ROWS_MAX):
        name = delivery.producer, delivery.sequence
        if not delivery.header_ok or not delivery.run_ok:
            continue
        if delivery.via in direct:
            seen.deliveries[name].append(delivery)
        elif delivery.via in finds:
            seen.audited.add(name)
    seen.acknowledgements = rows.read(folder, rows.Acknowledgement, ROWS_MAX)
    for event in rows.read(folder, rows.ClientEvent, ROWS_MAX):
        if event.kind in ("lost", "closed"):
            of = event.worker, event.connection
            seen.ended_ns[of] = min(event.at_ns, seen.ended_ns.get(of, event.at_ns))
    for deliveries in seen.deliveries.values():
        deliveries.sort(key=lambda it: (it.received_ns, it.consumer, it.connection, it.tag))
    return seen
