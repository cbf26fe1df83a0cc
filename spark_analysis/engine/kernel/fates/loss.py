"""Messages that were confirmed and not delivered, and those whose fate is unknown.

1. A message is lost only if no other place can hold it. If a place could not be read, it is
   `loss_unknown` or `unreachable`.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import Bools, Ints, marked
from spark_analysis.engine.kernel.cases import Cases, plain
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import ACKNOWLEDGED, INDETERMINATE, Messages
from spark_analysis.engine.kernel.fates import unseen
from spark_analysis.engine.kernel.fates.delays import not_due
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Fate


def loss(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """Every measure that asks where a message ended."""
    return [*_missing(messages, arrived, facts), *_undecided(messages, arrived)]


def _missing(messages: Messages, arrived: Arrivals, facts: Facts) -> list[Cases]:
    """Acknowledged and not delivered: first that holds."""
    missing = (messages.state == ACKNOWLEDGED) & ~arrived.delivered
    slots = np.flatnonzero(missing & ~messages.terms.to_be_rolled_back)
    waiting = not_due(messages, slots, facts)
    pending = ~waiting & _pending(messages, arrived, slots)
    decided = ~waiting & ~pending
    return [
        _unseen(messages, "loss_unknown", slots[waiting], "not_due"),
        _unseen(messages, "loss_unknown", slots[pending], "pending"),
        *_gone(messages, arrived, slots[decided], facts),
    ]


def _pending(messages: Messages, arrived: Arrivals, slots: Ints) -> Bools:
    """Return whether each message was to be committed at the broker's check, and nothing shows
    that the check happened."""
    when_checked: Bools = messages.terms.fates[slots] == Fate.COMMIT_WHEN_CHECKED
    if not when_checked.any():
        return when_checked
    whole = arrived.slot[arrived.whole]
    return when_checked & ~marked(len(messages.slots.taken), whole)[slots]


def _gone(messages: Messages, arrived: Arrivals, slots: Ints, facts: Facts) -> list[Cases]:
    reason = unseen.reasons(messages.queue[slots], facts)
    whole = marked(len(messages.slots.taken), arrived.slot[arrived.whole])[slots]
    # Of halves alone a place that could not be read may hold the commit.
    found = (arrived.found(slots) >= 0) & (whole | (reason != unseen.UNREADABLE))
    stranded, missing, reason = slots[found], slots[~found], reason[~found]
    unlogged, undrained = missing[reason == unseen.CONSUMER_LOG], missing[reason == unseen.DRAIN]
    return [
        messages.cases(
            "stranded",
            stranded,
            messages.strengths(stranded),
            arrived.received_ns(arrived.found(stranded)),
            messages.confirmed_ns[stranded],
        ),
        _unseen(messages, "loss_unknown", unlogged, "consumer_log"),
        _unseen(messages, "loss_unknown", undrained, "drain"),
        _unseen(messages, "unreachable", missing[reason == unseen.UNREADABLE]),
        _unseen(messages, "lost", missing[reason == unseen.NOWHERE]),
    ]


def _unseen(messages: Messages, measure: str, slots: Ints, detail: str = "") -> Cases:
    """Return the cases of messages that were not seen; without a detail, by confirm level."""
    details = _same(detail, slots) if detail else messages.strengths(slots)
    sent_ns = _first_sent_ns(messages, slots)
    return messages.cases(measure, slots, details, sent_ns, messages.confirmed_ns[slots])


def _undecided(messages: Messages, arrived: Arrivals) -> list[Cases]:
    undecided = messages.state == INDETERMINATE
    missing = np.flatnonzero(undecided & ~arrived.delivered)
    is_found = arrived.found(missing) >= 0
    found, nowhere = missing[is_found], missing[~is_found]
    revived = np.flatnonzero(undecided & arrived.delivered)
    measure = "lost_indeterminate"
    found_ns = arrived.received_ns(arrived.found(found))
    sent_ns = _first_sent_ns(messages, nowhere)
    again_ns = arrived.received_ns(arrived.first[revived])
    return [
        messages.cases(
            measure, found, _same("found", found), found_ns, _first_sent_ns(messages, found)
        ),
        messages.cases(measure, nowhere, plain(len(nowhere)), sent_ns, sent_ns),
        messages.cases("revived", revived, plain(len(revived)), again_ns),
    ]


def _first_sent_ns(messages: Messages, slots: Ints) -> Ints:
    return np.where(messages.sent[slots], messages.first_sent_ns[slots], NEVER_SENT)


def _same(detail: str, slots: Ints) -> Text:
    return Text((detail,), np.zeros(len(slots), np.int32))
