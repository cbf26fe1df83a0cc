"""The backlog after a fault: the messages that wait longer than a deadline, and when the last had
come.

1. A message waits from its confirm, or from when it is due if that is later, until its first
   delivery. One that only the drain received waited to the end and longer.
2. A message that is never delivered does not count. Its loss is counted elsewhere, and it would
   hide that all others came. If a broker asks for the commit, the start of the wait is unknown, so
   the message does not count either.
3. The backlog is drained when consumers have resumed and no message waits too long any more. It is
   not drained if one does at the window's last instant.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate
from tests.oracle.messages import Message


@dataclass(frozen=True, slots=True)
class Wait:
    """A message waits too long at every instant between these two. None: for ever."""

    after_ns: int
    before_ns: int | None

    def at(self, time_ns: int) -> bool:
        return self.after_ns < time_ns and (self.before_ns is None or time_ns < self.before_ns)


def too_long(facts: Facts, messages: Iterable[Message]) -> tuple[Wait, ...]:
    """Return the messages that waited too long at some time."""
    waits = (_wait(facts, message) for message in messages)
    return tuple(
        wait
        for wait in waits
        if wait is not None and (wait.before_ns is None or wait.after_ns < wait.before_ns)
    )


def drained_ns(
    waits: Iterable[Wait], resumed_ns: int | None, returned_ns: int, limit_ns: int
) -> int | None:
    """Return when the backlog was gone; None: not within the window's time."""
    if resumed_ns is None or returned_ns > limit_ns:
        return None
    drained_ns = resumed_ns
    for wait in waits:
        if wait.at(limit_ns):
            return None
        if wait.before_ns is not None and returned_ns < wait.before_ns <= limit_ns:
            drained_ns = max(drained_ns, wait.before_ns)
    return drained_ns


def _wait(facts: Facts, message: Message) -> Wait | None:
    confirmed_ns = message.confirmed_ns
    if confirmed_ns is None or not message.delivered or message.fate is Fate.COMMIT_WHEN_CHECKED:
        return None
    due_ns = [confirmed_ns, *(terms.due_ns for terms in message.terms if terms.delayed)]
    first = message.consumed[0]
    before_ns = None if first.by_drain else first.received_ns
    return Wait(max(due_ns) + facts.deadline_ns, before_ns)
