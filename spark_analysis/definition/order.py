"""Whether messages arrived in the order they were sent, where that order was promised.

1. Judged are only messages whose place is certain: neither delayed nor in a transaction, confirmed
   at the first attempt, and first delivered as that attempt and not as a redelivery. Brokers of
   logs flag nothing: who reads at a place for the first time reads the message itself.
2. They are compared within one producer, key, queue and publisher's connection.
3. A message is reordered if a larger sequence arrived before it. A loss leaves a gap, and a gap is
   no reorder.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from spark_analysis.definition.cases import Case, of_message
from spark_analysis.definition.events import Attempt
from spark_analysis.definition.messages import Message
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered

Line = tuple[int, int, str, int]  # producer, key, queue, publisher's connection


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    ordered = {end.queue for end in facts.queues if end.ordered}
    lines = defaultdict[Line, list[Message]](list)
    for message in messages:
        if not message.delivered:
            continue
        first_try = message.attempt(1)
        doubt = _doubt(message, first_try, ordered)
        if doubt or first_try is None:
            yield of_message(message, "not_judged", doubt, message.consumed[0].received_ns)
        else:
            line = message.producer, message.key, message.queue, first_try.connection
            lines[line].append(message)
    for queued in lines.values():
        yield from _arrivals(queued)


def _doubt(message: Message, first_try: Attempt | None, ordered: set[str]) -> str:
    """Why the place of this message is not certain; "" where it is."""
    first = message.consumed[0]
    if message.queue not in ordered:
        return "not_promised"
    if not message.at_once:
        return "not_at_once"
    confirmed = any(confirm.attempt == 1 for confirm in message.confirms)
    if first_try is None or not confirmed or first.attempt != 1:
        return "not_first_attempt"
    of_a_log = first.redelivered is Redelivered.NOT_TOLD and first.offset >= 0
    return "" if of_a_log or first.redelivered is Redelivered.NO else "redelivered"


def _arrivals(line: list[Message]) -> Iterator[Case]:
    largest = -1
    for message in sorted(line, key=lambda message: message.consumed[0].order):
        measure = "reordered" if message.sequence < largest else "in_order"
        yield of_message(message, measure, "", message.consumed[0].received_ns)
        largest = max(largest, message.sequence)
