"""Transactions: what consumers saw though it was rolled back, and what is committed by half.

1. Runs without transactions cost nothing.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, earliest, marked
from spark_analysis.engine.kernel.cases import Cases, Census, could_show
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import ACKNOWLEDGED, Messages
from spark_analysis.engine.kernel.events.terms import FATES
from spark_analysis.engine.kernel.fates.delays import not_due
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate


def transactions(
    messages: Messages, arrived: Arrivals, facts: Facts
) -> tuple[list[Census], list[Cases]]:
    """The messages that were in transactions, and those that broke one."""
    slots = np.flatnonzero(messages.terms.fates != Fate.NONE)
    if not len(slots):
        return [], []
    census = Census("transactions", _fates(messages, slots), messages.queue[slots])
    found = [*_seen(messages, arrived), _torn(messages, arrived, facts, slots)]
    return [census, *_could_show(messages)], found


def _could_show(messages: Messages) -> list[Census]:
    terms = messages.terms
    gone = marked(len(messages.slots.taken), terms.slot[terms.rolled_back])
    confirmed = messages.state == ACKNOWLEDGED
    held = {
        "rolled_back_but_delivered": gone,
        "torn_transaction": confirmed & (terms.fates == Fate.COMMIT),
        "unchecked": confirmed & (terms.fates == Fate.COMMIT_WHEN_CHECKED),
    }
    return [could_show(measure, messages.queue[each]) for measure, each in held.items()]


def _seen(messages: Messages, arrived: Arrivals) -> list[Cases]:
    """Return the messages with a visible copy that was rolled back, or may have been."""
    terms, size = messages.terms, len(messages.slots.taken)
    visible = arrived.came_by(arrived.ways.visible)
    rows = np.flatnonzero(arrived.identified & visible)
    place = terms.find(arrived.attempt_row[rows])
    gone = rows[(place >= 0) & terms.rolled_back[place]]
    rolled_back = earliest(size, arrived.slot[gone], gone)
    of_sent = rows[messages.sent_attempt(arrived.attempt_row[rows])]
    seen = earliest(size, arrived.slot[of_sent], of_sent)
    pending = (seen < NEVER) & (rolled_back == NEVER) & terms.to_be_rolled_back
    return [
        _at(messages, arrived, "rolled_back_but_delivered", rolled_back < NEVER, rolled_back),
        _at(messages, arrived, "rollback_unknown", pending, seen),
    ]


def _at(messages: Messages, arrived: Arrivals, measure: str, held: Bools, row: Ints) -> Cases:
    slots = np.flatnonzero(held)
    at_ns, sent_ns = arrived.received_ns(row[slots]), arrived.sent_ns(messages, row[slots])
    return messages.cases(measure, slots, _fates(messages, slots), at_ns, sent_ns, at_ns)


def _torn(messages: Messages, arrived: Arrivals, facts: Facts, slots: Ints) -> Cases:
    """Return the committed messages that are nowhere but in uncommitted finds, if all places could
    be seen."""
    size = len(messages.slots.taken)
    whole = marked(size, arrived.slot[arrived.whole])
    uncommitted = (arrived.found(slots) >= 0) & ~whole[slots]
    committed = (messages.state[slots] == ACKNOWLEDGED) & (
        messages.terms.fates[slots] == Fate.COMMIT
    )
    held = slots[committed & uncommitted & ~arrived.delivered[slots]]
    whole_read = (end.queue for end in facts.queues if end.drained and not end.unreadable)
    read = messages.queue[held].among(*whole_read)
    closed = all(worker.log_closed for worker in facts.workers if worker.role == "consumer")
    held = held[closed & read & ~not_due(messages, held, facts)]
    strengths = messages.strengths(held)
    at_ns, since_ns = arrived.received_ns(arrived.found(held)), messages.confirmed_ns[held]
    return messages.cases("torn_transaction", held, strengths, at_ns, since_ns)


def _fates(messages: Messages, slots: Ints) -> Text:
    return Text(FATES, messages.terms.fates[slots].astype(np.int32))
