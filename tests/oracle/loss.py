"""Messages that were acknowledged and did not arrive.

1. A message that was to be rolled back is not missed. The fate of a message is unknown if it was
   not due when the queue was quiet, or if its commit is unknown.
2. Any other message that the audit found exists: it is stranded, whatever else is unknown. If it
   found halves alone, a place that could not be read may hold the commit.
3. A consumer that died may have received the missing message, and an incomplete drain may have
   left it behind. Then it is unknown whether it is lost.
4. A place that could not be read may hold it: unreachable. Only the remaining messages are lost.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate
from tests.oracle.arrivals import Arrivals
from tests.oracle.cases import Case, of_message
from tests.oracle.delays import Waits
from tests.oracle.messages import Message, State
from tests.oracle.open_ends import OpenEnds


def cases(facts: Facts, messages: Iterable[Message], arrivals: Arrivals) -> Iterator[Case]:
    waits, ends = Waits(facts), OpenEnds(facts)
    for message in messages:
        confirmed_ns = message.confirmed_ns
        if confirmed_ns is None or message.delivered or message.to_be_rolled_back:
            continue
        measure, detail = _became(message, waits, ends)
        found = measure == "stranded"
        at_ns = message.finds[0].received_ns if found else message.first_sent_ns
        span = arrivals.span(message, confirmed_ns, message.confirmed_sent_ns)
        yield of_message(message, measure, detail, at_ns, span)


def _became(message: Message, waits: Waits, ends: OpenEnds) -> tuple[str, str]:
    """Measure and detail of an acknowledged message that did not come."""
    assert message.state is State.ACKNOWLEDGED, message
    if waits.not_due(message):
        return "loss_unknown", "not_due"
    if _is_pending(message):
        return "loss_unknown", "pending"
    why = ends.why(message.queue)
    if message.finds and not (why == "unreadable" and _only_halves(message)):
        return "stranded", message.strength
    match why:
        case "":
            return "lost", message.strength
        case "unreadable":
            return "unreachable", message.strength
        case why:
            return "loss_unknown", why


def _is_pending(message: Message) -> bool:
    """Return whether its commit depends on a check of the broker that is not on record."""
    return message.fate is Fate.COMMIT_WHEN_CHECKED and _only_halves(message)


def _only_halves(message: Message) -> bool:
    """Return whether the audit found nothing of it that is committed."""
    return not any(find.is_whole_find for find in message.finds)
