"""The truth log: one line of JSON for each message that was hit, written before it is hit.

1. A message is told by the head of its body as it was published; whoever wrote the body can read
   it there.
2. A line without its end was cut in two by a kill: it was not hit yet.
3. `kind` is one of Kind, or says what became of it: HELD, the copy that took the queue over had it
   (confirm-early and stale-guard); REDELIVERED, it is handed out again now.
"""

import msgspec

from reference_impl.process import Admit
from reference_impl.protocol.queues import Message

HEAD_OCTETS = 128
HELD, REDELIVERED = "held", "redelivered"


class Line(msgspec.Struct, frozen=True):
    """`by`: the message that overtook it. Octets are Base64 in the log."""

    kind: str
    queue: str
    head: bytes
    by: bytes | None = None


def admitted(kind: str, queue: str, *messages: Message) -> Admit:
    """All of them, a line each."""
    return Admit(b"".join(_line(Line(kind, queue, head(it))) for it in messages))


def overtaken(kind: str, queue: str, message: Message, by: Message) -> Admit:
    return Admit(_line(Line(kind, queue, head(message), head(by))))


def head(message: Message) -> bytes:
    return message.body[:HEAD_OCTETS]


def _line(line: Line) -> bytes:
    return msgspec.json.encode(line) + b"\n"
