"""The exposure of each fault: the publishes due and sent while it was in force."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import Exposure
from tests.oracle.forces import Force
from tests.oracle.messages import Message
from tests.oracle.outages import History


def rows(
    facts: Facts,
    messages: Iterable[Message],
    histories: Sequence[History],
    forces: Sequence[Force],
) -> tuple[Exposure, ...]:
    sent_ns = sorted(message.first_sent_ns for message in messages if message.sent)
    return tuple(
        Exposure(
            facts.run,
            force.number,
            force.returned_ns,
            force.end_ns,
            due=histories[0].scope.due(force.returned_ns, force.end_ns) if histories else 0,
            sent=max(
                0, bisect_left(sent_ns, force.end_ns) - bisect_left(sent_ns, force.returned_ns)
            ),
        )
        for force in forces
    )
