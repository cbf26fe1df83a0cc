"""What became of the messages that were acknowledged and did not arrive.

1. A message that the audit found exists: it is stranded, whatever else is unknown.
2. A consumer that died may have received what is missing; an incomplete drain may have left it
   behind. Then nobody knows whether it is lost.
3. A place that could not be read may hold it: unreachable. Only what is left is lost.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.definition.cases import Case, of_message
from spark_analysis.definition.messages import Message, State
from spark_analysis.schema.facts import Facts


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    logs_closed = all(w.log_closed for w in facts.workers if w.role == "consumer")
    drained = {end.queue for end in facts.queues if end.drained}
    unreadable = {end.queue for end in facts.queues if end.unreadable}
    for message in messages:
        if message.state is not State.ACKNOWLEDGED or message.delivered:
            continue
        at_ns = message.first_sent_ns
        if message.finds:
            found_ns = message.finds[0].received_ns
            yield of_message(message, "stranded", message.strength, found_ns)
        elif not logs_closed:
            yield of_message(message, "loss_unknown", "consumer_log", at_ns)
        elif message.queue not in drained:
            yield of_message(message, "loss_unknown", "drain", at_ns)
        elif message.queue in unreadable:
            yield of_message(message, "unreachable", message.strength, at_ns)
        else:
            yield of_message(message, "lost", message.strength, at_ns)
