"""What publishers were told, set against what came: states, and promises of failure not kept.

1. Every message is in exactly one state, and is counted there; what was confirmed is counted by
   the strongest promise given for it, too, so that a loss by strength has something to be of.
2. An unknown outcome is no failure: its message may come (revived) or not, both are counted.
3. A refusal or a return says that nothing happened. If the message is anywhere, that was untrue.
   What is refused of a transaction was rolled back, and is judged as such (transactions.py).
"""

from collections.abc import Iterable, Iterator

from spark_analysis.definition.cases import Case, of_message
from spark_analysis.definition.messages import Message, State
from spark_analysis.schema.words import Fate


def cases(messages: Iterable[Message]) -> Iterator[Case]:
    for message in messages:
        state = message.state
        yield of_message(message, "state", state.value, message.first_sent_ns)
        if state is State.ACKNOWLEDGED:
            yield of_message(message, "confirmed", message.strength, message.first_sent_ns)
        if state is State.INDETERMINATE:
            yield _indeterminate(message)
        denied = state in (State.RETURNED, State.REFUSED) and message.fate is Fate.NONE
        if denied and (message.delivered or message.finds):
            at_ns = message.deliveries[0].received_ns
            yield of_message(message, "refused_but_delivered", state.value, at_ns)


def _indeterminate(message: Message) -> Case:
    if message.delivered:
        return of_message(message, "revived", "", message.consumed[0].received_ns)
    if message.finds:
        at_ns = message.finds[0].received_ns
        return of_message(message, "lost_indeterminate", "found", at_ns)
    return of_message(message, "lost_indeterminate", "", message.first_sent_ns)
