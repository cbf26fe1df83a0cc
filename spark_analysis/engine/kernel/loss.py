"""What became of messages that were not delivered, or were and should not have been.

1. A message is called lost only where nothing else can have held it: what we cannot see is
   `loss_unknown` or `unreachable`.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, marked
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases, plain
from spark_analysis.engine.kernel.delays import not_due
from spark_analysis.engine.kernel.messages import (
    ACKNOWLEDGED,
    INDETERMINATE,
    REFUSED,
    RETURNED,
    STATES,
    Messages,
)
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Fate, Via


def loss(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """Every measure that asks where a message ended."""
    return [
        *_missing(messages, arrived, facts),
        *_undecided(messages, arrived),
        *_refused(messages, arrived),
    ]


def _missing(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """Acknowledged and not delivered: first that holds."""
    missing = (messages.state == ACKNOWLEDGED) & ~arrived.delivered
    slots = np.flatnonzero(missing & ~messages.terms.to_be_rolled_back)
    waiting = not_due(messages, slots, facts)
    pending = ~waiting & _pending(messages, arrived, slots)
    decided = ~waiting & ~pending
    return [
        _unseen(messages, "loss_unknown", slots[waiting], _same("not_due", waiting)),
        _unseen(messages, "loss_unknown", slots[pending], _same("pending", pending)),
        *_gone(messages, arrived, slots[decided], facts),
    ]


def _pending(messages: Messages, arrived: Arrivals, slots: Ints) -> Bools:
    """Whether each was to be committed when the broker asks, and nothing shows that it did."""
    when_asked: Bools = messages.terms.fates[slots] == Fate.COMMIT_WHEN_ASKED
    if not when_asked.any():
        return when_asked
    whole = arrived.slot[np.flatnonzero(arrived.audited(Via.AUDIT))]
    return when_asked & ~marked(len(messages.slots.taken), whole)[slots]


def _gone(messages: Messages, arrived: Arrivals, slots: Ints, facts: Facts) -> list[Cases]:
    queue = messages.queue[slots]
    found = arrived.found[slots] < NEVER
    unlogged = ~found & (not _consumers_closed(facts))
    undrained = ~found & ~unlogged & ~queue.among(*(q.queue for q in facts.queues if q.drained))
    beyond = queue.among(*(q.queue for q in facts.queues if q.unreadable))
    unreachable = ~found & ~unlogged & ~undrained & beyond
    lost = ~found & ~unlogged & ~undrained & ~beyond
    return [
        _found(messages, arrived, "stranded", slots[found], messages.strengths(slots[found])),
        _unseen(messages, "loss_unknown", slots[unlogged], _same("consumer_log", unlogged)),
        _unseen(messages, "loss_unknown", slots[undrained], _same("drain", undrained)),
        _unseen(messages, "unreachable", slots[unreachable], None),
        _unseen(messages, "lost", slots[lost], None),
    ]


def _undecided(messages: Messages, arrived: Arrivals) -> list[Cases]:
    undecided = messages.state == INDETERMINATE
    missing = np.flatnonzero(undecided & ~arrived.delivered)
    found = arrived.found[missing] < NEVER
    revived = np.flatnonzero(undecided & arrived.delivered)
    measure = "lost_indeterminate"
    return [
        _found(messages, arrived, measure, missing[found], _same("found", found)),
        _unseen(messages, measure, missing[~found], _same("", ~found)),
        messages.cases(
            "revived", revived, plain(len(revived)), arrived.received_ns(arrived.first[revived])
        ),
    ]


def _refused(messages: Messages, arrived: Arrivals) -> list[Cases]:
    rejected = (messages.state == RETURNED) | (messages.state == REFUSED)
    rejected &= messages.terms.fates == Fate.NONE
    here = arrived.delivered | (arrived.found < NEVER)
    slots = np.flatnonzero(rejected & here)
    detail = Text(STATES, messages.state[slots].astype(np.int32))
    at_ns = arrived.received_ns(arrived.first_identified()[slots])
    return [messages.cases("refused_but_delivered", slots, detail, at_ns)]


def _found(
    messages: Messages, arrived: Arrivals, measure: str, slots: Ints, detail: Text
) -> Cases:
    return messages.cases(measure, slots, detail, arrived.received_ns(arrived.found[slots]))


def _unseen(messages: Messages, measure: str, slots: Ints, detail: Text | None) -> Cases:
    detail = detail or messages.strengths(slots)
    sent_ns = np.where(messages.sent[slots], messages.first_sent_ns[slots], NEVER_SENT)
    return messages.cases(measure, slots, detail, sent_ns)


def _same(detail: str, held: Bools) -> Text:
    return Text((detail,), np.zeros(np.count_nonzero(held), np.int32))


def _consumers_closed(facts: Facts) -> bool:
    return all(worker.log_closed for worker in facts.workers if worker.role == "consumer")
