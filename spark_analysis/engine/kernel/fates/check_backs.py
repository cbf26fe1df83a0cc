"""Transactions that the broker should have checked, without any evidence that it did.

1. If the brokers do not check transactions, or the run has none, this costs nothing.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, marked
from spark_analysis.engine.kernel.cases import Cases, plain
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import ACKNOWLEDGED, Messages
from spark_analysis.engine.kernel.fates import unseen
from spark_analysis.engine.kernel.records import ClientEvents, Reader
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Fate


def check_backs(
    messages: Messages, arrived: Arrivals, facts: Facts, reader: Reader
) -> list[Cases]:
    """One case a message."""
    if facts.checks_within_ns is None:
        return []
    open_ended = (messages.terms.fates == Fate.COMMIT_WHEN_CHECKED) & ~arrived.delivered
    slots = np.flatnonzero(open_ended & (messages.state == ACKNOWLEDGED))
    if len(slots):
        slots = slots[~marked(len(messages.slots.taken), arrived.slot[arrived.whole])[slots]]
    if not len(slots):
        return []
    last_ns = np.full(len(messages.slots.taken), -NEVER, np.int64)
    np.maximum.at(last_ns, messages.confirms_slot, messages.confirms_settled_ns)
    due_ns = last_ns[slots] + facts.checks_within_ns
    certain = _there(messages, slots, due_ns, facts, reader.read(ClientEvents))
    certain &= _looked_at(messages, slots, due_ns, facts)
    certain &= ~_delayed(messages)[slots]
    certain &= ~_unrest(messages.confirmed_ns[slots], due_ns, facts)
    return [
        _cases(messages, "unchecked", slots[certain]),
        _cases(messages, "unchecked_unknown", slots[~certain]),
    ]


def _cases(messages: Messages, measure: str, slots: Ints) -> Cases:
    sent_ns = np.where(messages.sent[slots], messages.first_sent_ns[slots], NEVER_SENT)
    return messages.cases(measure, slots, plain(len(slots)), sent_ns)


def _there(
    messages: Messages, slots: Ints, due_ns: Ints, facts: Facts, events: ClientEvents
) -> Bools:
    """Return whether each producer had neither left, nor died, nor lost a connection by then."""
    producer, _ = messages.slots.identities(slots)
    gone = events.kind.among("lost", "closed")
    absent = [(each.worker, each.from_ns) for each in facts.absences]
    away = np.array(absent, np.int64).reshape(-1, 2)
    worker = np.concatenate([events.worker[gone].astype(np.int64), away[:, 0]])
    at_ns = np.concatenate([events.at_ns[gone], away[:, 1]])
    left_ns = np.full(len(slots), NEVER, np.int64)
    for number in np.unique(producer):
        of_worker = at_ns[worker == number]
        if len(of_worker):
            left_ns[producer == number] = of_worker.min()
    died = [one.number for one in facts.workers if not one.log_closed]
    there: Bools = (left_ns > due_ns) & ~np.isin(producer, died)
    return there


def _looked_at(messages: Messages, slots: Ints, due_ns: Ints, facts: Facts) -> Bools:
    queue = messages.queue[slots]
    quiet_ns = np.full(len(slots), -NEVER, np.int64)
    for end in facts.queues:
        if end.quiet_ns is not None:
            quiet_ns[queue.among(end.queue)] = end.quiet_ns
    looked: Bools = (unseen.reasons(queue, facts) == unseen.NOWHERE) & (quiet_ns > due_ns)
    return looked


def _delayed(messages: Messages) -> Bools:
    terms = messages.terms
    return marked(len(messages.slots.taken), terms.slot[terms.delayed])


def _unrest(since_ns: Ints, until_ns: Ints, facts: Facts) -> Bools:
    unrest = np.zeros(len(since_ns), np.bool_)
    for each in facts.unsettled:
        over_ns = NEVER if each.over_ns is None else each.over_ns
        unrest |= (each.origin_ns <= until_ns) & (over_ns >= since_ns)
    return unrest
