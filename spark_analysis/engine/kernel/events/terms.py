"""The terms of attempts: when each is due, and what is to become of its transaction.

1. Sparse: most runs have none, and those cost nothing. Looked up by the row of the attempt.
2. Rows that contradict the record format raise BadRecords here, before anything is judged.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import Bools, Ints, find, marked
from spark_analysis.engine.kernel.records import Attempts, BadRecords, Settlements, Terms
from spark_analysis.schema.words import NEVER_SENT, NO_DUE, ROLLBACKS, Fate, Outcome

FATES = tuple(fate.name.lower() for fate in Fate)
_SAID_NOTHING_ELSE = (Outcome.REFUSED, Outcome.RETURNED)


@dataclass(frozen=True, slots=True)
class TermRows:
    """One row an attempt that has terms, ascending by the attempt's row."""

    row: Ints  # of the attempt
    slot: Ints
    due_ns: Ints
    wait_ns: Ints  # from its sending, at least 0
    fate: Ints
    sent: Bools
    denied: Bools  # settled, and by refusals and returns alone
    fates: NDArray[np.uint8]  # by slot, of every message

    @property
    def delayed(self) -> Bools:
        delayed: Bools = self.due_ns != NO_DUE
        return delayed

    @property
    def rolled_back(self) -> Bools:
        """Return the attempts that no consumer may see any more."""
        gone: Bools = self.sent & self.denied & (self.fate != Fate.NONE)
        return gone

    @property
    def to_be_rolled_back(self) -> Bools:
        """Return by slot whether its producer intends a rollback."""
        return np.isin(self.fates, ROLLBACKS)

    @property
    def at_once(self) -> Bools:
        """Return by slot whether a broker may deliver it as soon as it has it."""
        at_once: Bools = self.fates == Fate.NONE
        at_once[self.slot[self.delayed]] = False
        return at_once

    def latest_due_ns(self, slots: Ints) -> NDArray[np.int64]:
        """The largest due time of each message; NO_DUE where it is not delayed."""
        due_ns = np.full(len(self.fates), NO_DUE, np.int64)
        np.maximum.at(due_ns, self.slot, self.due_ns)
        return due_ns[slots]

    def find(self, rows: Ints) -> NDArray[np.intp]:
        """The place of each attempt's terms; -1 where it has none."""
        return find(self.row, rows)


def term_rows(
    terms: Terms,
    slot: Ints,
    row: Ints,
    size: int,
    attempts: Attempts,
    settlements: Settlements,
    settled_rows: Ints,
) -> TermRows:
    """`slot` and `row`: of the message and the attempt of each of `terms`; `size`: all slots."""
    _check(terms, row)
    fates = np.zeros(size, np.uint8)
    fates[slot] = terms.fate
    if (fates[slot] != terms.fate).any():
        raise BadRecords("the attempts of a message differ in fate")
    order = np.argsort(row)
    row, slot = row[order], slot[order]
    due_ns, fate = terms.due_ns[order], terms.fate[order]
    sent_ns = attempts.sent_ns[row]
    wait_ns = np.where(due_ns == NO_DUE, 0, np.maximum(due_ns - sent_ns, 0))
    denied = _denied(row, settlements, settled_rows)
    return TermRows(row, slot, due_ns, wait_ns, fate, sent_ns != NEVER_SENT, denied, fates)


def _check(terms: Terms, row: Ints) -> None:
    if not len(row):
        return
    if (row < 0).any():
        raise BadRecords("terms have no attempt")
    if len(np.unique(row)) < len(row):
        raise BadRecords("an attempt has terms twice")
    if int(terms.fate.max()) > max(Fate):
        raise BadRecords("terms have an unknown fate")


def _denied(row: Ints, settlements: Settlements, settled_rows: Ints) -> Bools:
    place = find(row, settled_rows)
    denial = np.isin(settlements.outcome, _SAID_NOTHING_ELSE)
    said = marked(len(row), place[place >= 0])
    otherwise = marked(len(row), place[(place >= 0) & ~denial])
    return said & ~otherwise
