"""The messages of a run: their attempts and settlements folded into one slot each.

1. A state is the number of its word in STATES; 0 is a slot without a message.
2. Rows that contradict the record format raise BadRecords here, before anything is judged.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Bools,
    Ints,
    blocks,
    earliest,
    find,
    index,
    marked,
)
from spark_analysis.engine.kernel.cases import Cases, Census
from spark_analysis.engine.kernel.events.terms import TermRows, term_rows
from spark_analysis.engine.kernel.records import Attempts, BadRecords, Settlements, Terms, Text
from spark_analysis.engine.kernel.slots import Slots, make_slots
from spark_analysis.schema.words import NEVER_SENT, RANK_MAX, Level, Outcome, Strength

STATES = ("", "acknowledged", "indeterminate", "returned", "refused", "not_sent")
ACKNOWLEDGED, INDETERMINATE, RETURNED, REFUSED, NOT_SENT = range(1, 6)


@dataclass(frozen=True, slots=True)
class AttemptRows:
    """The rows of the attempts. Nearly all are first attempts, and those need no search."""

    first: Ints  # by slot: the row of attempt 1, or -1
    retries: Ints  # the keys of all others, ascending
    retry_rows: Ints  # their rows
    numbers: int  # larger than every attempt number

    def several(self, slots: Ints) -> Bools:
        """Return whether each message has more than one attempt."""
        keys = slots.astype(np.int64) * self.numbers
        retries = np.searchsorted(self.retries, keys + self.numbers)
        retries -= np.searchsorted(self.retries, keys)
        return retries + (self.first[slots] >= 0) > 1

    def find(self, slot: Ints, attempt: Ints) -> NDArray[np.int64]:
        """The row of each attempt; -1 where there is none, or no slot."""
        rows = np.full(len(slot), -1, np.int64)
        if not len(self.first):
            return rows
        for some in blocks(len(rows)):
            firsts = (slot[some] >= 0) & (attempt[some] == 1)
            rows[some] = np.where(firsts, self.first[slot[some]], -1)
        later = np.flatnonzero((attempt > 1) & (attempt < self.numbers))
        if len(later):
            # A slot of -1 makes a key below 0, and so is not found.
            keys = slot[later].astype(np.int64) * self.numbers + attempt[later]
            place = find(self.retries, keys)
            rows[later] = np.where(place >= 0, self.retry_rows[place], -1)
        return rows


@dataclass(frozen=True, slots=True)
class Denials:
    """The rows of attempts that were refused or returned, ascending; few."""

    row: Ints
    returned: Bools  # once at least
    only: Bools  # and nothing else was said of it


@dataclass(frozen=True, slots=True)
class Messages:
    """Every message by slot, and what was settled."""

    slots: Slots
    attempts: Attempts
    rows: AttemptRows
    queue: Text
    state: NDArray[np.int8]
    strength: NDArray[np.uint8]  # of acknowledged messages
    confirmed_ns: NDArray[np.int64]  # NEVER where not acknowledged
    first_sent_ns: NDArray[np.int64]  # NEVER where nothing was sent
    settlements: Settlements
    confirms: Bools | slice  # the settlements that are CONFIRMED; one of each below
    confirms_row: Ints  # its attempt's row
    confirms_slot: Ints
    row_confirmed_ns: NDArray[np.int64]  # by attempt's row; NEVER where it is not confirmed
    denials: Denials
    terms: TermRows
    labels: tuple[str, ...]  # of confirm levels, by their ranks
    contradicted: bool = False  # the settlements contradict the attempts, see _contradicted

    @property
    def confirms_settled_ns(self) -> Ints:
        return self.settlements.settled_ns[self.confirms]

    @property
    def confirms_sent_ns(self) -> Ints:
        """Its attempt's."""
        return self.attempts.sent_ns[self.confirms_row]

    @property
    def confirmed_sent_ns(self) -> NDArray[np.int64]:
        """By slot: when the first attempt with a confirm was sent; NEVER without one."""
        return earliest(len(self.slots.taken), self.confirms_slot, self.confirms_sent_ns)

    @property
    def confirms_strength(self) -> Ints:
        return self.settlements.strength[self.confirms]

    @property
    def sent(self) -> Bools:
        return self.first_sent_ns < NEVER

    def sent_attempt(self, rows: Ints) -> Bools:
        """Return whether each row (-1 for none) is an attempt that was sent."""
        if not len(self.attempts.sent_ns):
            return np.zeros(len(rows), np.bool_)
        sent: Bools = self.attempts.sent_ns[rows] != NEVER_SENT
        return (rows >= 0) & sent

    def cases(
        self,
        measure: str,
        slots: Ints,
        detail: Text,
        at_ns: Ints,
        since_ns: Ints | None = None,
        by_ns: Ints | None = None,
    ) -> Cases:
        """One case a message."""
        producer, sequence = self.slots.identities(slots)
        census = Census(measure, detail, self.queue[slots])
        attempt = np.zeros(len(slots), np.int64)
        return Cases(census, producer, sequence, attempt, at_ns, since_ns, by_ns)

    def slots_of(self, rows: Ints) -> Ints:
        """The messages of these attempts."""
        return self.slots.find(self.attempts.producer[rows], self.attempts.sequence[rows])

    def attempt_cases(
        self,
        measure: str,
        rows: Ints,
        detail: Text,
        at_ns: Ints,
        since_ns: Ints | None = None,
    ) -> Cases:
        """One case an attempt."""
        attempts = self.attempts
        census = Census(measure, detail, self.queue[self.slots_of(rows)])
        return Cases(
            census,
            attempts.producer[rows],
            attempts.sequence[rows],
            attempts.attempt[rows],
            at_ns,
            since_ns,
        )

    def states(self) -> Census:
        slots = np.flatnonzero(self.slots.taken)
        return Census("state", Text(STATES, self.state[slots].astype(np.int32)), self.queue[slots])

    def confirmed(self) -> Census:
        """Acknowledged messages, by strength."""
        slots = np.flatnonzero(self.state == ACKNOWLEDGED)
        return Census("confirmed", self.strengths(slots), self.queue[slots])

    def strengths(self, slots: Ints) -> Text:
        """Return the confirm level of each; all of them are acknowledged."""
        return Text(self.labels, self.strength[slots].astype(np.int32))


def fold(
    attempts: Attempts, settlements: Settlements, terms: Terms, levels: Iterable[Level]
) -> Messages:
    """Return all messages of a run. `levels`: those that its records may have."""
    labels = labels_of(levels)
    slots = make_slots(attempts.producer, attempts.sequence)
    slot = slots.find(attempts.producer, attempts.sequence)
    rows = _attempt_rows(len(slots.taken), slot, attempts.attempt)
    settled = slots.find(settlements.producer, settlements.sequence)
    settled_rows = rows.find(settled, settlements.attempt)
    _check_settlements(settlements, settled_rows, labels)
    contradicted = _contradicted(attempts, settlements, settled_rows)
    void = _void(attempts, settlements, settled_rows)
    if void.any():
        settlements, settled, settled_rows = (
            settlements.pick(~void),
            settled[~void],
            settled_rows[~void],
        )
    sent = _chosen(attempts.sent_ns != NEVER_SENT)
    sent_slots = slot[sent]
    confirmed = _chosen(settlements.outcome == Outcome.CONFIRMED)
    confirms_slot, confirms_row = settled[confirmed], settled_rows[confirmed]
    confirms_settled_ns = settlements.settled_ns[confirmed]
    confirms_strength = settlements.strength[confirmed]
    size = len(slots.taken)
    termed = slots.find(terms.producer, terms.sequence)
    termed_rows = rows.find(termed, terms.attempt)
    return Messages(
        slots=slots,
        attempts=attempts,
        rows=rows,
        queue=_queue(size, slot, attempts, rows),
        state=_states(
            slots.taken,
            sent_slots[~marked(len(slot), settled_rows)[sent]],
            settlements,
            settled,
        ),
        strength=_strongest(size, confirms_slot, confirms_strength),
        confirmed_ns=earliest(size, confirms_slot, confirms_settled_ns),
        first_sent_ns=earliest(size, sent_slots, attempts.sent_ns[sent]),
        settlements=settlements,
        confirms=confirmed,
        confirms_row=confirms_row.astype(index(len(slot))),
        confirms_slot=confirms_slot.astype(index(size)),
        row_confirmed_ns=earliest(len(slot), confirms_row, confirms_settled_ns),
        denials=denials(settlements, settled_rows),
        terms=term_rows(terms, termed, termed_rows, size, attempts, settlements, settled_rows),
        labels=labels,
        contradicted=contradicted,
    )


def _contradicted(attempts: Attempts, settlements: Settlements, rows: Ints) -> bool:
    """Return whether an attempt that was never sent has a confirm, or one that was sent has any
    settlement from before its sending."""
    for some in blocks(len(rows)):
        sent_ns = attempts.sent_ns[rows[some]]
        confirmed = settlements.outcome[some] == Outcome.CONFIRMED
        early = settlements.settled_ns[some] < sent_ns
        if np.where(sent_ns == NEVER_SENT, confirmed, early).any():
            return True
    return False


def _void(attempts: Attempts, settlements: Settlements, rows: Ints) -> Bools:
    """Mark confirms of attempts that were returned or never sent."""
    confirm: Bools = settlements.outcome == Outcome.CONFIRMED
    if not len(rows):
        return confirm
    void: Bools = confirm & (attempts.sent_ns[rows] == NEVER_SENT)
    returned = settlements.outcome == Outcome.RETURNED
    if returned.any():
        void |= confirm & marked(len(attempts.sent_ns), rows[returned])[rows]
    return void


def _chosen(rows: Bools) -> Bools | slice:
    """The same rows; where that is all of them, nothing need be copied."""
    return slice(None) if rows.all() else rows


def denials(settlements: Settlements, settled_rows: Ints) -> Denials:
    """Return the refused or returned attempts, and whether each has any other settlement."""
    returned = settlements.outcome == Outcome.RETURNED
    denied = np.flatnonzero(returned | (settlements.outcome == Outcome.REFUSED))
    row = np.unique(settled_rows[denied])
    if not len(row):
        return Denials(row, np.zeros(0, np.bool_), np.zeros(0, np.bool_))
    said = np.bincount(find(row, settled_rows) + 1, minlength=len(row) + 1)[1:]
    denying = np.bincount(find(row, settled_rows[denied]), minlength=len(row))
    came_back = marked(len(row), find(row, settled_rows[returned]))
    return Denials(row, came_back, said == denying)


def _attempt_rows(size: int, slot: Ints, attempt: Ints) -> AttemptRows:
    is_first = attempt == 1
    first = np.full(size, -1, index(len(slot)))
    first[slot[is_first]] = np.flatnonzero(is_first)
    retry_rows = np.flatnonzero(~is_first)
    numbers = int(attempt.max(initial=1)) + 1
    keys = slot[retry_rows] * numbers + attempt[retry_rows]
    order = np.argsort(keys)
    keys, retry_rows = keys[order], retry_rows[order]
    if int(attempt.min(initial=1)) < 1:
        raise BadRecords("an attempt is numbered below 1")
    if np.count_nonzero(first >= 0) < np.count_nonzero(is_first) or (np.diff(keys) == 0).any():
        raise BadRecords("an attempt is recorded twice")
    return AttemptRows(first, keys, retry_rows, numbers)


def labels_of(levels: Iterable[Level]) -> tuple[str, ...]:
    """Return the labels by rank, "" for a rank that is none."""
    known = {0: Strength.NONE.label} | {level.rank: level.label for level in levels}
    return tuple(known.get(rank, "") for rank in range(max(known) + 1))


def _check_settlements(settlements: Settlements, rows: Ints, labels: tuple[str, ...]) -> None:
    if not len(rows):
        return
    if (rows < 0).any():
        raise BadRecords("a settlement has no attempt")
    if int(settlements.outcome.min()) < 1 or int(settlements.outcome.max()) > max(Outcome):
        raise BadRecords("a settlement has an unknown outcome")
    known = np.zeros(RANK_MAX + 2, np.bool_)
    known[[rank for rank, label in enumerate(labels) if label]] = True
    if not known[settlements.strength].all():
        raise BadRecords("a settlement has an unknown strength")


def _queue(size: int, slot: Ints, attempts: Attempts, rows: AttemptRows) -> Text:
    numbers = np.full(size, -1, np.int32)
    numbers[slot] = attempts.queue.numbers
    key = np.zeros(size, np.int32)
    key[slot] = attempts.key
    # Only messages with several attempts can differ, and these have one that is not the first.
    firsts = rows.first[slot[rows.retry_rows]]
    several = np.concatenate([rows.retry_rows, firsts[firsts >= 0]])
    of = slot[several]
    same = numbers[of] == attempts.queue.numbers[several]
    same &= key[of] == attempts.key[several]
    if not same.all():
        raise BadRecords("the attempts of a message differ in queue or key")
    return Text(attempts.queue.words, numbers)


def _states(
    taken: Bools, open_slots: Ints, settlements: Settlements, settled: Ints
) -> NDArray[np.int8]:
    """Written weakest first, so that the first state that holds stands at the end."""
    states = np.where(taken, NOT_SENT, 0).astype(np.int8)
    by_outcome = (
        (Outcome.REFUSED, REFUSED),
        (Outcome.RETURNED, RETURNED),
        (Outcome.UNCONFIRMED, INDETERMINATE),
        (Outcome.UNKNOWN, INDETERMINATE),
    )
    for outcome, state in by_outcome:
        states[settled[settlements.outcome == outcome]] = state
    states[open_slots] = INDETERMINATE
    states[settled[settlements.outcome == Outcome.CONFIRMED]] = ACKNOWLEDGED
    return states


def _strongest(size: int, slot: Ints, strength: Ints) -> NDArray[np.uint8]:
    strongest = np.full(size, 255, np.uint8)
    np.minimum.at(strongest, slot, strength)
    return strongest
