"""A line of a misbehaviour log: what was done wrong, and to which message.

1. The head of its body, as published, identifies a message; the author of the body can read it
   there.
2. A line without its end was cut in two by a kill: its message was not hit yet.
"""

import msgspec

HEAD_OCTETS = 128


class TruthLine(msgspec.Struct, frozen=True):
    """`by`: the message that overtook it. Octets are Base64 in the log."""

    kind: str
    queue: str
    head: bytes
    by: bytes | None = None


def line(kind: str, queue: str, body: bytes, by: bytes | None = None) -> bytes:
    """Of messages with these bodies."""
    other = None if by is None else by[:HEAD_OCTETS]
    return msgspec.json.encode(TruthLine(kind, queue, body[:HEAD_OCTETS], other)) + b"\n"
