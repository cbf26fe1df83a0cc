"""Single attempts with a wrong answer: confirmed and not seen, or refused and delivered.

1. Nearly every confirmed attempt is seen, so the kernel reads only the others.
2. Few messages have a second attempt: the census of those that were sent again reads these alone.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import Bools, Ints, earliest, find, marked
from spark_analysis.engine.kernel.cases import Cases, Census, could_show
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import ACKNOWLEDGED, Messages
from spark_analysis.engine.kernel.fates import unseen
from spark_analysis.engine.kernel.fates.delays import attempts_not_due
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Fate

OPEN = (*unseen.REASONS, "not_due")
NOT_DUE = OPEN.index("not_due")
DENIALS = ("refused", "returned")


def attempts(
    messages: Messages, arrived: Arrivals, facts: Facts
) -> tuple[list[Census], list[Cases]]:
    """Return one case per attempt: the denied ones, and those whose answer was wrong."""
    row, returned = _denied(messages)
    refused = _refused(messages, arrived, row, returned)
    found = [*_lost(messages, arrived, facts), refused]
    again = could_show("attempt_lost", messages.queue[_sent_again(messages)])
    if not len(row):
        return [again], found
    queue = messages.queue[messages.slots_of(row)]
    return [Census("denied", _words(returned), queue), again], found


def _sent_again(messages: Messages) -> Ints:
    """Return the confirmed messages, outside of transactions, with several sent attempts."""
    rows = messages.rows
    retries = rows.retry_rows[messages.sent_attempt(rows.retry_rows)]
    slots, sent = np.unique(messages.slots_of(retries), return_counts=True)
    sent += messages.sent_attempt(rows.first[slots])
    confirmed = messages.state[slots] == ACKNOWLEDGED
    again: Ints = slots[(sent > 1) & confirmed & (messages.terms.fates[slots] == Fate.NONE)]
    return again


def _lost(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """Confirmed, seen nowhere, though another copy of the message was delivered."""
    named = arrived.attempt_row[np.flatnonzero(arrived.identified)]
    seen = marked(len(messages.attempts.attempt), named[named >= 0])
    confirms = np.flatnonzero(~seen[messages.confirms_row])
    row, place = np.unique(messages.confirms_row[confirms], return_inverse=True)
    strength = np.full(len(row), len(messages.labels), np.int32)
    np.minimum.at(strength, place, messages.confirms_strength[confirms])
    slot = messages.slots_of(row)
    held = arrived.delivered[slot] & (messages.terms.fates[slot] == Fate.NONE)
    held &= messages.attempts.sent_ns[row] != NEVER_SENT
    row, slot, strength = row[held], slot[held], strength[held]
    waiting = attempts_not_due(messages, row, facts)
    reason = np.where(waiting, NOT_DUE, unseen.reasons(messages.queue[slot], facts))
    lost = reason == unseen.NOWHERE
    return [
        _unseen(messages, "attempt_open", row[~lost], Text(OPEN, reason[~lost])),
        _unseen(messages, "attempt_lost", row[lost], Text(messages.labels, strength[lost])),
    ]


def _unseen(messages: Messages, measure: str, rows: Ints, detail: Text) -> Cases:
    sent_ns, since_ns = messages.attempts.sent_ns[rows], messages.row_confirmed_ns[rows]
    return messages.attempt_cases(measure, rows, detail, sent_ns, since_ns)


def _denied(messages: Messages) -> tuple[Ints, Bools]:
    """Rows of attempts that were sent, outside of transactions, and refused or returned and
    nothing else; and which of the two."""
    denials = messages.denials
    row, returned = denials.row[denials.only], denials.returned[denials.only]
    if len(row):
        alone = messages.terms.fates[messages.slots_of(row)] == Fate.NONE
        alone &= messages.attempts.sent_ns[row] != NEVER_SENT
        row, returned = row[alone], returned[alone]
    return row, returned


def _refused(messages: Messages, arrived: Arrivals, row: Ints, returned: Bools) -> Cases:
    """Return the denied attempts that were delivered all the same."""
    place = find(row, arrived.attempt_row)
    came = np.flatnonzero((place >= 0) & arrived.regular)
    first = earliest(len(row), place[came], came)
    held = marked(len(row), place[came])
    at_ns = arrived.received_ns(first[held])
    detail = _words(returned[held])
    return messages.attempt_cases("refused_but_delivered", row[held], detail, at_ns)


def _words(returned: Bools) -> Text:
    return Text(DENIALS, returned.astype(np.int32))
