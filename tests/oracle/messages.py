"""Rows folded into messages: their attempts, the answers, and their deliveries.

1. A message is a (producer, sequence) with at least one attempt; nothing else names one.
2. A delivery belongs to a message only if its header and run are credible and the message was sent
   at all. Any other claim to the name is a stray (strays.py).
3. An attempt without settlement may have happened: it makes its message indeterminate, never
   refused.
4. An answer to a single attempt belongs to its number: a try.
5. A confirm of an attempt that was returned, or never sent, confirms nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from spark_analysis.schema.words import NEVER_SENT, ROLLBACKS, Fate, Outcome
from tests.oracle.events import Attempt, Delivery, Events, Settlement, Terms

Name = tuple[int, int]  # (producer, sequence)
DENIALS = (Outcome.REFUSED, Outcome.RETURNED)


class State(Enum):
    """A publisher's knowledge of a message; the value is its name in the marts."""

    ACKNOWLEDGED = "acknowledged"
    INDETERMINATE = "indeterminate"
    RETURNED = "returned"
    REFUSED = "refused"
    NOT_SENT = "not_sent"


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt of a message, and what was said and seen of just this one."""

    attempt: Attempt
    terms: Terms | None
    settlements: tuple[Settlement, ...]
    confirms: tuple[Settlement, ...]  # the settlements that confirm
    confirmed_ns: int | None  # by the first of them
    deliveries: tuple[Delivery, ...]  # the identified ones, by whatever way, in delivery order

    @property
    def denied(self) -> bool:
        """The broker said that it did not happen, and nothing else was said."""
        return bool(self.settlements) and all(one.outcome in DENIALS for one in self.settlements)


@dataclass(frozen=True, slots=True)
class Message:
    """One message, its deliveries in delivery order."""

    producer: int
    sequence: int
    attempts: tuple[Attempt, ...]
    terms: tuple[Terms, ...]  # of those attempts that have any
    settlements: tuple[Settlement, ...]
    confirms: tuple[Settlement, ...]  # the settlements that confirm
    confirmed_ns: int | None  # by the first of them
    deliveries: tuple[Delivery, ...]  # the identified ones, by whatever way
    consumed: tuple[Delivery, ...]  # those by which it was delivered; the first says when
    finds: tuple[Delivery, ...]  # those of the audit
    tries: Mapping[int, Try]  # by the attempt's number
    contradicted: bool = False  # the settlements contradict the attempts, see _contradicted

    @property
    def queue(self) -> str:
        return self.attempts[0].queue

    @property
    def key(self) -> int:
        return self.attempts[0].key

    @property
    def fate(self) -> Fate:
        """Return the intended fate of its transaction, the same for every attempt."""
        return next((terms.fate for terms in self.terms), Fate.NONE)

    @property
    def at_once(self) -> bool:
        """A broker may give it out as soon as it has it."""
        return self.fate is Fate.NONE and not any(terms.delayed for terms in self.terms)

    @property
    def to_be_rolled_back(self) -> bool:
        return self.fate in ROLLBACKS

    @property
    def sent(self) -> bool:
        return any(attempt.sent for attempt in self.attempts)

    @property
    def first_sent_ns(self) -> int:
        return min((a.sent_ns for a in self.attempts if a.sent), default=NEVER_SENT)

    @property
    def confirmed_sent_ns(self) -> int:
        """Return when the first attempt with a confirm was sent."""
        confirmed = (one for one in self.tries.values() if one.confirmed_ns is not None)
        return min((one.attempt.sent_ns for one in confirmed), default=NEVER_SENT)

    @property
    def state(self) -> State:
        outcomes = {settlement.outcome for settlement in self.settlements}
        settled = {settlement.attempt for settlement in self.settlements}
        if Outcome.CONFIRMED in outcomes:
            return State.ACKNOWLEDGED
        if outcomes & {Outcome.UNKNOWN, Outcome.UNCONFIRMED}:
            return State.INDETERMINATE
        if any(attempt.sent and attempt.number not in settled for attempt in self.attempts):
            return State.INDETERMINATE
        if Outcome.RETURNED in outcomes:
            return State.RETURNED
        return State.REFUSED if Outcome.REFUSED in outcomes else State.NOT_SENT

    @property
    def strength(self) -> str:
        """The name of the strongest promise given for it; lower is stronger."""
        return strongest(self.confirms)

    @property
    def delivered(self) -> bool:
        return bool(self.consumed)

    def attempt(self, number: int) -> Attempt | None:
        return self.tries[number].attempt if number in self.tries else None

    def sent_attempt(self, number: int) -> Attempt | None:
        attempt = self.attempt(number)
        return attempt if attempt is not None and attempt.sent else None

    def terms_of(self, number: int) -> Terms | None:
        return self.tries[number].terms if number in self.tries else None


def strongest(confirms: Iterable[Settlement]) -> str:
    return min((one.strength for one in confirms), key=lambda level: level.rank).label


def fold(events: Events) -> dict[Name, Message]:
    """Every message of the run, by name."""
    attempts = defaultdict[Name, list[Attempt]](list)
    terms = defaultdict[Name, list[Terms]](list)
    settlements = defaultdict[Name, list[Settlement]](list)
    deliveries = defaultdict[Name, list[Delivery]](list)
    for attempt in events.attempts:
        attempts[attempt.producer, attempt.sequence].append(attempt)
    for each in events.terms:
        terms[each.producer, each.sequence].append(each)
    for settlement in events.settlements:
        settlements[settlement.producer, settlement.sequence].append(settlement)
    for delivery in events.deliveries:
        if delivery.header_ok and delivery.run_ok:
            deliveries[delivery.producer, delivery.sequence].append(delivery)
    return {
        name: _message(
            name,
            tried,
            terms.get(name, []),
            settlements.get(name, []),
            deliveries.get(name, []),
        )
        for name, tried in attempts.items()
    }


def _message(
    name: Name,
    attempts: list[Attempt],
    terms: list[Terms],
    settlements: list[Settlement],
    named: list[Delivery],
) -> Message:
    identified = named if any(attempt.sent for attempt in attempts) else []
    recorded, settlements = settlements, _without_void(attempts, settlements)
    confirms = _confirms(settlements)
    return Message(
        *name,
        attempts=tuple(attempts),
        terms=tuple(terms),
        settlements=tuple(settlements),
        confirms=confirms,
        confirmed_ns=_first_ns(confirms),
        deliveries=tuple(identified),
        consumed=tuple(delivery for delivery in identified if delivery.by_consuming),
        finds=tuple(delivery for delivery in identified if delivery.is_find),
        tries=_tries(attempts, terms, settlements, identified),
        contradicted=_contradicted(attempts, recorded),
    )


def _contradicted(attempts: list[Attempt], settlements: list[Settlement]) -> bool:
    """Return whether an attempt that was never sent has a confirm, or one that was sent has any
    settlement from before its sending."""
    sent_ns = {attempt.number: attempt.sent_ns for attempt in attempts if attempt.sent}
    return any(
        one.settled_ns < sent_ns[one.attempt]
        if one.attempt in sent_ns
        else one.outcome is Outcome.CONFIRMED
        for one in settlements
    )


def _tries(
    attempts: list[Attempt],
    terms: list[Terms],
    settlements: list[Settlement],
    deliveries: list[Delivery],
) -> Mapping[int, Try]:
    said, seen = defaultdict[int, list[Settlement]](list), defaultdict[int, list[Delivery]](list)
    for settlement in settlements:
        said[settlement.attempt].append(settlement)
    for delivery in deliveries:
        seen[delivery.attempt].append(delivery)
    agreed = {one.attempt: one for one in reversed(terms)}
    return {
        attempt.number: Try(
            attempt,
            agreed.get(attempt.number),
            settlements=tuple(said[attempt.number]),
            confirms=(confirms := _confirms(said[attempt.number])),
            confirmed_ns=_first_ns(confirms),
            deliveries=tuple(seen[attempt.number]),
        )
        for attempt in reversed(attempts)
    }


def _without_void(attempts: list[Attempt], settlements: list[Settlement]) -> list[Settlement]:
    """Return the settlements without confirms of attempts that were returned or never sent."""
    void = {one.attempt for one in settlements if one.outcome is Outcome.RETURNED}
    void |= {attempt.number for attempt in attempts if not attempt.sent}
    return [
        one
        for one in settlements
        if one.outcome is not Outcome.CONFIRMED or one.attempt not in void
    ]


def _confirms(settlements: Iterable[Settlement]) -> tuple[Settlement, ...]:
    return tuple(one for one in settlements if one.outcome is Outcome.CONFIRMED)


def _first_ns(confirms: Iterable[Settlement]) -> int | None:
    return min((confirm.settled_ns for confirm in confirms), default=None)
