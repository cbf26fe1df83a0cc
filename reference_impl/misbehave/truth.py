"""The truth log of a node: a line (lines.py) for each message, written before that is hit.

`kind` is one of Kind, or says what became of it: HELD, the copy that took the queue over had it
(confirm-early and stale-guard); REDELIVERED, it is handed out again now.
"""

from reference_impl.misbehave.lines import line
from reference_impl.process import AppendTruth
from reference_impl.protocol.queues import Message

HELD, REDELIVERED = "held", "redelivered"


def admitted(kind: str, queue: str, *messages: Message) -> AppendTruth:
    """All of them, a line each."""
    return AppendTruth(b"".join(line(kind, queue, it.body) for it in messages))


def overtaken(kind: str, queue: str, message: Message, by: Message) -> AppendTruth:
    return AppendTruth(line(kind, queue, message.body, by.body))
