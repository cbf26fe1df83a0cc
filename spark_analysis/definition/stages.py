"""The stages of recovery after each fault, counted from the instant before it was issued.

1. A stage counts what was begun when the fault was in force for certain: sent after the action had
   returned. The time the action took is the uncertainty.
2. What happens in a later window's time is that window's.
3. A stage that was not reached has a lower bound: nothing is said of the time after it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spark_analysis.definition.backlog import Backlog
from spark_analysis.definition.backlog import of as backlog_of
from spark_analysis.definition.messages import Message
from spark_analysis.definition.operations import Operation
from spark_analysis.definition.owed import Undos, owed
from spark_analysis.definition.sustained import Periods, Search
from spark_analysis.definition.windows import Faulted, faulted
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Stage
from spark_analysis.schema.words import Via

Outages = Mapping[int, Search]  # by window: when sustained success began, or could have


@dataclass(frozen=True, slots=True)
class _Echo:
    """Something that came back of an attempt: its confirm or its delivery."""

    sent_ns: int
    back_ns: int


def outages(facts: Facts, operations: Sequence[Operation]) -> Outages:
    """Sustained success after each window; empty where it cannot be judged."""
    if not (facts.paced and facts.confirms):
        return {}
    periods = Periods(operations, facts.load_ended_ns)
    return {
        fault.window.number: periods.first_good(fault.window.origin_ns, fault.until_ns)
        for fault in faulted(facts)
    }


def rows(
    facts: Facts,
    messages: Sequence[Message],
    operations: Sequence[Operation],
    sustained: Outages,
    undone: Undos,
) -> tuple[Stage, ...]:
    confirms = tuple(_confirms(messages))
    deliveries = tuple(_deliveries(messages))
    windows = faulted(facts)
    backlog = backlog_of(messages)
    base = backlog.largest(facts.load_started_ns, windows[0].window.origin_ns) if windows else 0
    stages: list[Stage] = []
    for fault in windows:
        search = sustained.get(fault.window.number)
        stages.append(_stage(facts.run, fault, "consumers_resumed", _back(fault, deliveries)))
        if search is not None:
            row = _stage(facts.run, fault, "sustained_success", search)
            undo_ns = undone.get(fault.window.number)
            stages.append(replace(row, owed=owed(facts, fault, operations, search, undo_ns)))
        if facts.confirms:
            drained = _drained(fault, backlog, base)
            stages.append(_stage(facts.run, fault, "first_success", _back(fault, confirms)))
            stages.append(_stage(facts.run, fault, "backlog_drained", drained))
    return tuple(stages)


def _stage(run: str, fault: Faulted, name: str, search: Search) -> Stage:
    window = fault.window
    after_ns = search.at_ns - window.origin_ns
    uncertainty_ns = window.returned_ns - window.origin_ns
    return Stage(run, window.number, name, search.found, after_ns, uncertainty_ns)


def _back(fault: Faulted, echoes: Iterable[_Echo]) -> Search:
    """The first that came back, within the window's time, of what was sent under the fault."""
    sent_after = (echo for echo in echoes if echo.sent_ns >= fault.window.returned_ns)
    first_ns = min((echo.back_ns for echo in sent_after), default=None)
    return _search(fault, first_ns)


def _drained(fault: Faulted, backlog: Backlog, base: int) -> Search:
    return _search(fault, backlog.settled_ns(base, fault.window.returned_ns, fault.until_ns))


def _search(fault: Faulted, at_ns: int | None) -> Search:
    if at_ns is None or at_ns > fault.until_ns:
        return Search(False, fault.until_ns)
    return Search(True, at_ns)


def _confirms(messages: Iterable[Message]) -> Iterator[_Echo]:
    for message in messages:
        for confirm in message.confirms:
            attempt = message.attempt(confirm.attempt)
            if attempt is not None and attempt.sent:
                yield _Echo(attempt.sent_ns, confirm.settled_ns)


def _deliveries(messages: Iterable[Message]) -> Iterator[_Echo]:
    for message in messages:
        for delivery in message.consumed:
            attempt = message.attempt(delivery.attempt)
            if delivery.via is Via.LOAD and attempt is not None and attempt.sent:
                yield _Echo(attempt.sent_ns, delivery.received_ns)
