"""The answers to publishers about their messages, compared with the deliveries.

1. Every message is in exactly one state, and is counted there. A confirmed message is also counted
   by its strongest confirm level, so that a loss by level has a total.
2. An unknown outcome is no failure: its message may come (revived) or not, both are counted.
3. Answers to single attempts are judged elsewhere (attempts.py).
"""

from collections.abc import Iterable, Iterator

from tests.oracle.arrivals import Arrivals
from tests.oracle.cases import Case, of_message
from tests.oracle.messages import Message, State


def cases(messages: Iterable[Message], arrivals: Arrivals) -> Iterator[Case]:
    for message in messages:
        state = message.state
        yield of_message(message, "state", state.value, message.first_sent_ns)
        if state is State.ACKNOWLEDGED:
            yield of_message(message, "confirmed", message.strength, message.first_sent_ns)
        if state is State.INDETERMINATE:
            yield _indeterminate(message, arrivals)


def _indeterminate(message: Message, arrivals: Arrivals) -> Case:
    if message.delivered:
        return of_message(message, "revived", "", message.consumed[0].received_ns)
    span = arrivals.span(message, message.first_sent_ns, message.first_sent_ns)
    if message.finds:
        at_ns = message.finds[0].received_ns
        return of_message(message, "lost_indeterminate", "found", at_ns, span)
    return of_message(message, "lost_indeterminate", "", message.first_sent_ns, span)
