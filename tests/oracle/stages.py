"""The stages of recovery after each fault, counted from the instant before it was issued.

1. A stage counts what was begun when the fault was in force for certain: sent after the action had
   returned. The time the action took is the uncertainty.
2. What happens in a later window's time is that window's.
3. A stage that was not reached has a lower bound: nothing is said of the time after it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts
from tests.oracle import backlog, sustained
from tests.oracle.forces import Force
from tests.oracle.messages import Message
from tests.oracle.outages import History


@dataclass(frozen=True, slots=True)
class _Echo:
    """Something that came back of an attempt: its confirm or its delivery."""

    sent_ns: int
    back_ns: int


def rows(
    facts: Facts,
    messages: Sequence[Message],
    histories: Sequence[History],
    forces: Sequence[Force],
) -> tuple[Stage, ...]:
    confirms, deliveries = tuple(_confirms(messages)), tuple(_deliveries(messages))
    waits = backlog.too_long(facts, messages)
    consumed = any(worker.role == "consumer" for worker in facts.workers)
    stages: list[Stage] = []
    for force in forces:
        resumed_ns = _back_ns(force, deliveries)
        stages.append(_stage(facts.run, force, "consumers_resumed", resumed_ns))
        if histories:
            stages.append(sustained.stage(facts, histories[0], force))
        if facts.confirms:
            first_ns = _back_ns(force, confirms)
            stages.append(_stage(facts.run, force, "first_success", first_ns))
        if facts.confirms and consumed:
            gone_ns = backlog.drained_ns(waits, resumed_ns, force.returned_ns, force.limit_ns)
            stages.append(_stage(facts.run, force, "backlog_drained", gone_ns))
    return tuple(stages)


def _stage(run: str, force: Force, name: str, at_ns: int | None) -> Stage:
    """`at_ns` None: it was not reached."""
    after_ns = (force.limit_ns if at_ns is None else at_ns) - force.origin_ns
    uncertainty_ns = force.returned_ns - force.origin_ns
    return Stage(run, force.number, name, at_ns is not None, after_ns, uncertainty_ns)


def _back_ns(force: Force, echoes: Sequence[_Echo]) -> int | None:
    """The first that came back, within the window's time, of what was sent under the fault."""
    sent_after = (echo.back_ns for echo in echoes if echo.sent_ns >= force.returned_ns)
    first_ns = min(sent_after, default=None)
    return first_ns if first_ns is not None and first_ns <= force.limit_ns else None


def _confirms(messages: Sequence[Message]) -> Iterator[_Echo]:
    for message in messages:
        for confirm in message.confirms:
            attempt = message.sent_attempt(confirm.attempt)
            if attempt is not None:
                yield _Echo(attempt.sent_ns, confirm.settled_ns)


def _deliveries(messages: Sequence[Message]) -> Iterator[_Echo]:
    for message in messages:
        for delivery in message.consumed:
            attempt = message.sent_attempt(delivery.attempt)
            if delivery.while_consuming and attempt is not None:
                yield _Echo(attempt.sent_ns, delivery.received_ns)
