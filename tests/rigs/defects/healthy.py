"""Healthy histories of some hundred messages, made by hand: every promise that is judged holds.

1. `random` varies pace, lags and the length of the outage; the shape of a base stays.
2. The load is slow, so that a history is small. Promised bounds (5 s, 100 publishes) stay real.
"""

from random import Random
from typing import Any

from harness.histories.history import FactValue
from spark_analysis.schema.words import Fate, Outcome, Redelivered
from tests.rigs.defects.runs import Run, of_rows
from tests.rigs.histories.by_hand import CONSUMER, History
from tests.rigs.histories.declared import MIRRORED

OTHER_QUEUE, OTHER = "payments", 3
EVERY_MS = 66.0
FAULT_MS, UNDO_MS, FAILOVER_MS = 12_000, 36_000, 54_000
_PROMISED: dict[str, FactValue] = {**MIRRORED, "faults": 0}
_AT_FAULT: dict[str, FactValue] = {
    "fault_target_role": "master",
    "mirrors_at_fault": 2,
    "synchronised_mirrors_at_fault": 2,
}


def failover(random: Random) -> Run:
    """A queue whose master is killed: a mirror takes over, and redelivers what was in doubt."""
    history = _with_fault(History(load_ms=(0, FAILOVER_MS)))
    back_ms = FAULT_MS + random.uniform(1_500, 3_000)
    history.client_event("consuming", at_ms=1).client_event("lost", at_ms=FAULT_MS + 200)
    history.client_event("consuming", at_ms=FAULT_MS + 900, connection=2)
    lag_ms = random.uniform(2, 20)
    tag = 0
    for sequence in range(int(FAILOVER_MS / EVERY_MS)):
        at_ms = sequence * EVERY_MS
        history.publish(sequence, at_ms=at_ms)
        if FAULT_MS <= at_ms < back_ms:
            if at_ms + 400 >= back_ms:
                _retried(history, sequence, back_ms, tag := tag + 2)
            continue
        connection = 1 if at_ms < FAULT_MS else 2
        came_ms, tag = at_ms + lag_ms + 2, tag + 1
        history.confirm(sequence, at_ms=at_ms + lag_ms)
        history.deliver(sequence, at_ms=came_ms, tag=tag, connection=connection)
        if FAULT_MS - 400 < at_ms < FAULT_MS:
            _redelivered(history, sequence, back_ms, tag := tag + 1)
        else:
            history.acknowledge(tag, at_ms=came_ms + 2, connection=connection)
    return _run("failover", history, faults=1)


def _with_fault(history: History) -> History:
    return history.window(
        FAULT_MS,
        returned_ms=FAULT_MS + 20,
        ended_ms=UNDO_MS + 20,
        undo_ms=UNDO_MS,
        gone_ms=UNDO_MS + 50,
        over_ms=UNDO_MS + 1_000,
    )


def _retried(history: History, sequence: int, back_ms: float, tag: int) -> None:
    """The publisher sends the message again, and both attempts are confirmed."""
    history.publish(sequence, attempt=2, at_ms=back_ms + 1 + sequence / 1_000)
    for attempt in (1, 2):
        history.confirm(sequence, attempt=attempt, at_ms=back_ms + 5 + attempt)
        at_ms = back_ms + 8 + sequence / 1_000 + attempt / 10_000
        history.deliver(
            sequence, attempt=attempt, at_ms=at_ms, tag=tag - 2 + attempt, connection=2
        )
        history.acknowledge(tag - 2 + attempt, at_ms=at_ms + 2, connection=2)


def _redelivered(history: History, sequence: int, back_ms: float, tag: int) -> None:
    at_ms = back_ms - 500 + sequence / 1_000
    history.deliver(sequence, at_ms=at_ms, redelivered=Redelivered.YES, tag=tag, connection=2)
    history.acknowledge(tag, at_ms=at_ms + 2, connection=2)


def calm(random: Random) -> Run:
    """Two queues without a fault. Some messages are refused, and stay so."""
    history = History(load_ms=(0, 40_000)).worker(OTHER, "consumer").queue(OTHER_QUEUE)
    history.client_event("consuming", at_ms=1)
    history.client_event("consuming", at_ms=1, worker=OTHER, queue=OTHER_QUEUE)
    lag_ms = random.uniform(2, 20)
    refused = set(random.sample(range(50, 550, 100), 4))
    for sequence in range(int(40_000 / EVERY_MS)):
        at_ms = sequence * EVERY_MS
        other = sequence % 2 == 1
        history.publish(sequence, at_ms=at_ms, queue=OTHER_QUEUE if other else "orders")
        if sequence in refused:
            history.settle(sequence, Outcome.REFUSED, at_ms=at_ms + lag_ms)
            continue
        history.confirm(sequence, at_ms=at_ms + lag_ms)
        _taken(history, sequence, at_ms + lag_ms + 2, OTHER if other else CONSUMER)
    return _run("calm", history, consumers=2)


def handover(random: Random) -> Run:
    """An ordered queue that a second consumer takes over half-way."""
    history = History(load_ms=(0, 40_000)).worker(OTHER, "consumer")
    history.client_event("consuming", at_ms=1).client_event("closed", at_ms=20_050)
    history.client_event("consuming", at_ms=20_060, worker=OTHER)
    lag_ms = random.uniform(2, 20)
    for sequence in range(int(40_000 / EVERY_MS)):
        at_ms = sequence * EVERY_MS
        history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms + lag_ms)
        first = at_ms + lag_ms + 2 < 20_000
        came_ms = max(at_ms + lag_ms + 2, 0 if first else 20_100 + sequence / 100)
        _taken(history, sequence, came_ms, CONSUMER if first else OTHER)
    return _run("handover", history, consumers=2)


def log(random: Random) -> Run:
    """A log of four places; the broker of one is killed and comes back."""
    history = History(load_ms=(0, 110_000)).queue(ordered=False)
    history.window(
        15_000, returned_ms=15_020, ended_ms=30_020, undo_ms=30_000, gone_ms=30_050, over_ms=31_000
    )
    history.client_event("consuming", at_ms=1)
    lag_ms = random.uniform(2, 20)
    offsets = dict.fromkeys(range(4), 0)
    for sequence in range(1_000):
        at_ms = sequence * 110.0
        place = sequence % 4
        if place == 0 and 15_000 <= at_ms < 30_500:
            place = 1 + sequence // 4 % 3  # clients go to the others
        history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms + lag_ms)
        came_ms, tag = at_ms + lag_ms + 2, sequence + 1
        history.deliver(
            sequence, at_ms=came_ms, tag=tag, place=f"broker-{place}", offset=offsets[place]
        )
        offsets[place] += 1
        history.acknowledge(tag, at_ms=came_ms + 2)
    recorded = {"fault_target_role": "master"}
    return _run("log", history, faults=1, masters=4, elects=False, at_fault=recorded)


def delayed(random: Random) -> Run:
    """Half of the messages are delayed by some seconds, and come in their time."""
    history = History(load_ms=(0, 40_000)).queue(quiet_ms=80_000)
    history.client_event("consuming", at_ms=1)
    lag_ms = random.uniform(2, 20)
    for sequence in range(int(40_000 / EVERY_MS)):
        at_ms = sequence * EVERY_MS
        wait_ms = random.choice((5_000, 8_000, 10_000)) if sequence % 2 and at_ms < 29_000 else 0
        history.publish(sequence, at_ms=at_ms)
        if wait_ms:
            history.terms(sequence, wait_ms=wait_ms)
        history.confirm(sequence, at_ms=at_ms + lag_ms)
        _taken(history, sequence, at_ms + wait_ms + lag_ms + 2, CONSUMER)
    return _run("delayed", history)


def transactions(random: Random) -> Run:
    """One message in ten is rolled back, the others are committed."""
    history = History(load_ms=(0, 40_000))
    history.client_event("consuming", at_ms=1)
    lag_ms = random.uniform(2, 20)
    for sequence in range(int(40_000 / EVERY_MS)):
        rolled_back = sequence % 4 == 3
        at_ms = sequence * EVERY_MS
        history.publish(sequence, at_ms=at_ms)
        history.terms(sequence, fate=Fate.ROLLBACK if rolled_back else Fate.COMMIT)
        if rolled_back:
            history.settle(sequence, Outcome.REFUSED, at_ms=at_ms + lag_ms)
        else:
            history.confirm(sequence, at_ms=at_ms + lag_ms)
            _taken(history, sequence, at_ms + lag_ms + 2, CONSUMER)
    return _run("transactions", history)


BASES = (failover, calm, handover, log, delayed, transactions)


def _taken(history: History, sequence: int, at_ms: float, consumer: int) -> None:
    """The consumer gets the message and acknowledges it; tags are made later."""
    tag = sequence + 1
    history.deliver(sequence, at_ms=at_ms, consumer=consumer, tag=tag)
    history.acknowledge(tag, at_ms=at_ms + 2, consumer=consumer)


def _run(
    name: str, history: History, at_fault: dict[str, FactValue] | None = None, **declared: Any
) -> Run:
    facts, rows = history.build()
    recorded = {1: at_fault or _AT_FAULT} if facts.windows else {}
    return of_rows(name, facts, {**_PROMISED, **declared}, recorded, rows)
