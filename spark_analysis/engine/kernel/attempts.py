"""What became of single attempts: copies that were confirmed and are nowhere, or refused and came.

1. Nearly every confirmed attempt is seen, so only those that are not are looked at.
"""

import numpy as np

from spark_analysis.engine.kernel import places
from spark_analysis.engine.kernel.arrays import Ints, earliest, find, marked
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.delays import attempts_not_due
from spark_analysis.engine.kernel.messages import STRENGTHS, Messages
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Fate

OPEN = (*places.REASONS, "not_due")
NOT_DUE = OPEN.index("not_due")
DENIALS = ("refused", "returned")


def attempts(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """One case an attempt."""
    return [*_lost(messages, arrived, facts), _refused(messages, arrived)]


def _lost(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """Confirmed, seen nowhere, though another copy of the message was delivered."""
    named = arrived.attempt_row[np.flatnonzero(arrived.identified)]
    seen = marked(len(messages.attempts.attempt), named[named >= 0])
    confirms = np.flatnonzero(~seen[messages.confirms_row])
    row, place = np.unique(messages.confirms_row[confirms], return_inverse=True)
    strength = np.full(len(row), len(STRENGTHS), np.int32)
    np.minimum.at(strength, place, messages.confirms_strength[confirms])
    slot = messages.slots_of(row)
    held = arrived.delivered[slot] & (messages.terms.fates[slot] == Fate.NONE)
    held &= messages.attempts.sent_ns[row] != NEVER_SENT
    row, slot, strength = row[held], slot[held], strength[held]
    waiting = attempts_not_due(messages, row, facts)
    reason = np.where(waiting, NOT_DUE, places.places(messages.queue[slot], facts))
    lost = reason == places.NOWHERE
    return [
        _unseen(messages, "attempt_open", row[~lost], Text(OPEN, reason[~lost])),
        _unseen(messages, "attempt_lost", row[lost], Text(STRENGTHS, strength[lost])),
    ]


def _unseen(messages: Messages, measure: str, rows: Ints, detail: Text) -> Cases:
    sent_ns, since_ns = messages.attempts.sent_ns[rows], messages.row_confirmed_ns[rows]
    return messages.attempt_cases(measure, rows, detail, sent_ns, since_ns)


def _refused(messages: Messages, arrived: Arrivals) -> Cases:
    """Refused or returned and nothing else, and seen all the same."""
    denials = messages.denials
    row, returned = denials.row[denials.only], denials.returned[denials.only]
    if len(row):
        alone = messages.terms.fates[messages.slots_of(row)] == Fate.NONE
        alone &= messages.attempts.sent_ns[row] != NEVER_SENT
        row, returned = row[alone], returned[alone]
    place = find(row, arrived.attempt_row)
    came = np.flatnonzero((place >= 0) & arrived.identified)
    first = earliest(len(row), place[came], came)
    held = marked(len(row), place[came])
    at_ns = arrived.received_ns(first[held])
    detail = Text(DENIALS, returned[held].astype(np.int32))
    return messages.attempt_cases("refused_but_delivered", row[held], detail, at_ns)
