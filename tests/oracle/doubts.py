"""The verdicts of a run that could not be judged, with the reasons.

1. The whole run is in doubt if a fault was not verified as active or as ended, if a clock is, or
   if an effect came before its cause.
2. Stalls of publishers and consumers (stalls.py), and a publisher's missing log, put availability
   in doubt. If a fault kept all publishers or all consumers away, none was left to judge by.
3. A missing log, a queue that is not drained and a place that could not be read put loss in doubt.
   So do messages that were not due, or whose commit is unknown: one doubt per queue.
"""

from collections.abc import Iterable, Iterator, Sequence

from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts, Worker
from tests.oracle import causality, stalls
from tests.oracle.absences import Absences
from tests.oracle.cases import Case
from tests.oracle.channels import Channels
from tests.oracle.events import Stall
from tests.oracle.messages import Message
from tests.oracle.windows import judged

_OF_TERMS = ("not_due", "pending")


def rows(
    facts: Facts,
    messages: Sequence[Message],
    channels: Channels,
    stalled: Iterable[Stall],
    missing: Iterable[Case],
) -> tuple[Doubt, ...]:
    """`missing`: what became of messages that did not come (loss.py)."""
    return (
        *_of_the_run(facts, messages, channels),
        *stalls.doubts(facts, stalled),
        *_of_availability(facts),
        *_of_loss(facts, {message.queue for message in messages}),
        *_of_terms(facts, missing),
    )


def _of_the_run(facts: Facts, messages: Iterable[Message], channels: Channels) -> Iterator[Doubt]:
    # A planned fault that never began explains nothing, but the run is not the planned one.
    for window in (*facts.windows, *facts.not_begun):
        if not (window.verified and window.gone):
            yield _doubt(facts, "run", "fault", window=window.number)
    if facts.clock_problem:
        yield _doubt(facts, "run", "clock")
    if causality.broken(facts, messages, channels):
        yield _doubt(facts, "run", "causality")


def _of_availability(facts: Facts) -> Iterator[Doubt]:
    windows = judged(facts)
    absences = Absences(facts)
    for publisher in _open_logs(facts, "publisher"):
        for window in windows:
            yield _doubt(
                facts,
                "availability",
                "publisher_log",
                window=window.number,
                worker=publisher.number,
            )
    for role in ("publisher", "consumer"):
        workers = [worker.number for worker in facts.workers if worker.role == role]
        for window in windows:
            if absences.all_touch(workers, window.from_ns, window.until_ns):
                yield _doubt(facts, "availability", f"{role}s_absent", window=window.number)


def _of_loss(facts: Facts, queues: set[str]) -> Iterator[Doubt]:
    for role in ("consumer", "publisher"):
        for worker in _open_logs(facts, role):
            yield _doubt(facts, "loss", f"{role}_log", worker=worker.number)
    known = {end.queue for end in facts.queues}
    undrained = {end.queue for end in facts.queues if not end.drained}
    for queue in sorted(undrained | (queues - known)):
        yield _doubt(facts, "loss", "drain", queue=queue)
    for end in facts.queues:
        if end.unreadable:
            yield _doubt(facts, "loss", "unreadable", queue=end.queue)


def _of_terms(facts: Facts, missing: Iterable[Case]) -> Iterator[Doubt]:
    unknown = {(one.detail, one.queue) for one in missing if one.measure == "loss_unknown"}
    for reason, queue in sorted(unknown):
        if reason in _OF_TERMS:
            yield _doubt(facts, "loss", reason, queue=queue)


def _open_logs(facts: Facts, role: str) -> list[Worker]:
    return [worker for worker in facts.workers if worker.role == role and not worker.log_closed]


def _doubt(
    facts: Facts, scope: str, reason: str, *, window: int = 0, queue: str = "", worker: int = 0
) -> Doubt:
    return Doubt(facts.run, scope, window, reason, queue, worker, at_ns=0, late_ns=0)
