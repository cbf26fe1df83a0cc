"""Short ways to messages."""

from reference_impl.protocol.queues import Message


def message(name: str | int, *, persistent: bool = True, lives_ms: int = -1) -> Message:
    octets = str(name).encode()
    return Message(octets, "", "q", b"", octets, persistent, lives_ms)
