"""Open transactions that the broker should have checked and did not.

1. No record shows the check itself; only a later commit proves it.
2. The broker had to check if the time was over, the producer could answer throughout, and the
   brokers met no fault. A producer whose log is not closed may have died at any time. If a place
   could not be read, the case is unknown.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate
from tests.oracle.cases import Case, of_message
from tests.oracle.events import ConnectionEnd
from tests.oracle.messages import Message
from tests.oracle.open_ends import OpenEnds


def cases(
    facts: Facts, messages: Iterable[Message], ends: Iterable[ConnectionEnd]
) -> Iterator[Case]:
    within_ns = facts.checks_within_ns
    if within_ns is None:
        return
    seen = _Seen(facts, ends)
    for message in messages:
        confirms_ns = [one.settled_ns for one in message.confirms]
        if confirms_ns and _is_open(message):
            due_ns = max(confirms_ns) + within_ns
            certain = seen.must_have_checked(message, min(confirms_ns), due_ns)
            measure = "unchecked" if certain else "unchecked_unknown"
            yield of_message(message, measure, "", message.first_sent_ns)


def _is_open(message: Message) -> bool:
    """Return whether nothing shows that the message was committed."""
    audited = any(find.is_whole_find for find in message.finds)
    return message.fate is Fate.COMMIT_WHEN_CHECKED and not message.delivered and not audited


class _Seen:
    """Other possible reasons, in one run."""

    def __init__(self, facts: Facts, ends: Iterable[ConnectionEnd]) -> None:
        self._facts = facts
        self._open = OpenEnds(facts)
        self._quiet_ns = {end.queue: end.quiet_ns for end in facts.queues}
        self._left_ns: dict[int, int] = {}
        self._died = {one.number for one in facts.workers if not one.log_closed}
        leaving = [(end.worker, end.at_ns) for end in ends]
        for worker, at_ns in leaving + [(one.worker, one.from_ns) for one in facts.absences]:
            self._left_ns[worker] = min(at_ns, self._left_ns.get(worker, at_ns))

    def must_have_checked(self, message: Message, confirmed_ns: int, due_ns: int) -> bool:
        left_ns, quiet_ns = self._left_ns.get(message.producer), self._quiet_ns.get(message.queue)
        there = message.producer not in self._died and (left_ns is None or left_ns > due_ns)
        looked = not self._open.why(message.queue) and quiet_ns is not None and quiet_ns > due_ns
        at_once = not any(terms.delayed for terms in message.terms)
        return there and looked and at_once and not self._unrest(confirmed_ns, due_ns)

    def _unrest(self, since_ns: int, until_ns: int) -> bool:
        return any(
            each.origin_ns <= until_ns and (each.over_ns is None or each.over_ns >= since_ns)
            for each in self._facts.unsettled
        )
