"""What became of the messages that were acknowledged and did not arrive.

1. Nobody waits for a message that was to be rolled back. Of one whose time had not come when all
   was quiet, or of which nobody knows whether it was committed, it is unknown what became.
2. Another message that the audit found exists: it is stranded, whatever else is unknown.
3. A consumer that died may have received what is missing; an incomplete drain may have left it
   behind. Then nobody knows whether it is lost.
4. A place that could not be read may hold it: unreachable. Only what is left is lost.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.definition.cases import Case, of_message
from spark_analysis.definition.delays import Waits
from spark_analysis.definition.messages import Message, State
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate, Via


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    logs_closed = all(w.log_closed for w in facts.workers if w.role == "consumer")
    drained = {end.queue for end in facts.queues if end.drained}
    unreadable = {end.queue for end in facts.queues if end.unreadable}
    waits = Waits(facts)
    for message in messages:
        if not _is_missing(message):
            continue
        at_ns = message.first_sent_ns
        if waits.not_due(message):
            yield of_message(message, "loss_unknown", "not_due", at_ns)
        elif _is_pending(message):
            yield of_message(message, "loss_unknown", "pending", at_ns)
        elif message.finds:
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


def _is_missing(message: Message) -> bool:
    acknowledged = message.state is State.ACKNOWLEDGED
    return acknowledged and not message.delivered and not message.to_be_rolled_back


def _is_pending(message: Message) -> bool:
    """Whether it was committed hangs on a question of the broker that nobody recorded."""
    committed = any(find.via is Via.AUDIT for find in message.finds)
    return message.fate is Fate.COMMIT_WHEN_ASKED and not committed
