"""The publishes of a run: what was intended when, and whether it was confirmed in time.

1. Only paced runs have publishes, and only confirms can say whether one was missed: where either
   is absent there are none.
2. They stand in the order (intended_ns, producer, sequence).
3. What a fault kept its publisher away from is none, but an excuse.
"""

from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, index
from spark_analysis.engine.kernel.cases import Cases, Census, plain
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts


@dataclass(frozen=True, slots=True)
class Publishes:
    """One row a publish."""

    slot: Ints
    intended_ns: Ints
    queue: Text
    missed: Bools
    confirmed_ns: Ints  # NEVER if it was not confirmed
    excused: Text  # the queues of those that are excused


def publishes(messages: Messages, facts: Facts) -> Publishes:
    if not (facts.paced and facts.confirms):
        slots = np.zeros(0, np.int64)
    else:
        # What is to be rolled back is never confirmed.
        slots = np.flatnonzero((messages.rows.first >= 0) & ~messages.terms.to_be_rolled_back)
        slots = slots.astype(index(len(messages.state)))
    intended_ns = messages.attempts.intended_ns[messages.rows.first[slots]]
    slots, intended_ns = slots[intended_ns >= 0], intended_ns[intended_ns >= 0]
    # Slots ascend by (producer, sequence), so a stable sort keeps that order among equals.
    order = np.argsort(intended_ns, kind="stable")
    slots, intended_ns = slots[order], intended_ns[order]
    excused = messages.queue[slots[:0]]
    if facts.absences:
        producer = messages.attempts.producer[messages.rows.first[slots]]
        away = _away(producer, intended_ns, facts)
        excused = messages.queue[slots[away]]
        slots, intended_ns = slots[~away], intended_ns[~away]
    confirmed_ns = messages.confirmed_ns[slots]
    missed = confirmed_ns > intended_ns + facts.deadline_ns
    return Publishes(slots, intended_ns, messages.queue[slots], missed, confirmed_ns, excused)


def _away(producer: Ints, intended_ns: Ints, facts: Facts) -> Bools:
    """Whose producer was absent between its intended time and its deadline."""
    away = np.zeros(len(producer), np.bool_)
    for absence in facts.absences:
        until_ns = NEVER if absence.until_ns is None else absence.until_ns
        if absence.from_ns < until_ns:
            begun = intended_ns + facts.deadline_ns >= absence.from_ns
            away |= (producer == absence.worker) & begun & (intended_ns < until_ns)
    return away


def missed(found: Publishes, messages: Messages) -> tuple[list[Census], list[Cases]]:
    """Every publish and every excuse, and the publishes not confirmed in time."""
    late = found.missed
    every = Census("operations", plain(len(found.slot)), found.queue)
    at_ns = found.intended_ns[late]
    excused = Census("excused", plain(len(found.excused.numbers)), found.excused)
    return [every, excused], [messages.cases("missed", found.slot[late], plain(len(at_ns)), at_ns)]
