"""The answers to single attempts, compared with the deliveries of just these attempts.

1. If a confirmed attempt is nowhere though another attempt of its message came, it was lost: the
   application has its message, but the broker broke its word. It is open whether the attempt is
   anywhere if a consumer died, a queue was not drained, a place could not be read, or it was not
   due.
2. A refusal or a return promises that no consumer receives that attempt. If a consumer did, the
   answer was wrong, whatever was said of other attempts. A copy that only the audit found was
   delivered to no consumer.
3. Neither is judged for transactions (transactions.py).
4. Only a confirmed message that was sent again can lose a copy: census `could_show`.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate, Outcome
from tests.oracle.arrivals import Arrivals
from tests.oracle.cases import Case, of_message
from tests.oracle.delays import Waits
from tests.oracle.messages import Message, Try, strongest
from tests.oracle.open_ends import OpenEnds


def cases(facts: Facts, messages: Iterable[Message], arrivals: Arrivals) -> Iterator[Case]:
    waits, ends = Waits(facts), OpenEnds(facts)
    for message in messages:
        if message.fate is not Fate.NONE:
            continue
        if _sent_again(message):
            yield of_message(message, "could_show", "attempt_lost", message.first_sent_ns)
        for number, one in message.tries.items():
            if not one.attempt.sent:
                continue
            confirmed_ns = one.confirmed_ns
            if confirmed_ns is not None and message.delivered and not one.deliveries:
                measure, detail = _missing(message, one, waits, ends)
                span = arrivals.span(message, confirmed_ns, one.attempt.sent_ns)
                at_ns = one.attempt.sent_ns
                yield of_message(message, measure, detail, at_ns, span, attempt=number)
            if one.denied:
                yield from _denied(message, number, one)


def _sent_again(message: Message) -> bool:
    """Return whether several attempts were sent, one of them with a confirm."""
    sent = [one for one in message.tries.values() if one.attempt.sent]
    return len(sent) > 1 and any(one.confirmed_ns is not None for one in sent)


def _missing(message: Message, one: Try, waits: Waits, ends: OpenEnds) -> tuple[str, str]:
    """Measure and detail of a confirmed attempt that is nowhere."""
    if waits.attempt_not_due(message, one):
        return "attempt_open", "not_due"
    why = ends.why(message.queue)
    return ("attempt_open", why) if why else ("attempt_lost", strongest(one.confirms))


def _denied(message: Message, number: int, one: Try) -> Iterator[Case]:
    """Yield a count for every denial, and a listed case for each wrong one."""
    said, sent_ns = _denial(one), one.attempt.sent_ns
    yield of_message(message, "denied", said, sent_ns, attempt=number)
    came = next((each for each in one.deliveries if each.by_consuming), None)
    if came is not None:
        at_ns, measure = came.received_ns, "refused_but_delivered"
        yield of_message(message, measure, said, at_ns, attempt=number)


def _denial(one: Try) -> str:
    returned = any(said.outcome is Outcome.RETURNED for said in one.settlements)
    return "returned" if returned else "refused"
