"""Names of queues and consumers as a channel understands them.

1. An empty queue name means the queue that the channel declared last.
2. Names that the broker gives are unique for ever, as the channel's own Pid is.
3. An exclusive queue is its connection's alone.
"""

import hashlib
from base64 import urlsafe_b64encode

from reference_impl.amqp.rules.errors import ACCESS_REFUSED, NOT_FOUND, AmqpError, locked
from reference_impl.metadata.tables import Queue
from reference_impl.pid import Pid

_GENERATED_OCTETS = 16
_RESERVED = "amq."


class Naming:
    def __init__(self, pid: Pid, connection: Pid) -> None:
        self._pid = pid
        self._connection = connection
        self._last_declared = ""
        self._generated = 0

    def queue(self, name: str) -> str:
        """Raises 404."""
        if not name and not self._last_declared:
            raise AmqpError(NOT_FOUND, "no previously declared queue")
        return name or self._last_declared

    def key(self, queue: str, key: str) -> str:
        """A binding without queue and key means the last declared queue in both places."""
        return self.queue("") if not queue and not key else key

    def declared(self, name: str) -> None:
        self._last_declared = name

    def generate(self, prefix: str) -> str:
        self._generated += 1
        unique = "/".join(map(str, (*self._pid, self._generated)))
        digest = hashlib.sha256(unique.encode()).digest()[:_GENERATED_OCTETS]
        return f"{prefix}-{urlsafe_b64encode(digest).decode().rstrip('=')}"

    def check_owner(self, record: Queue) -> None:
        """Raises 405 where the queue is another connection's."""
        if record.owner is not None and record.owner != self._connection:
            raise locked(record.name)


def check_not_reserved(what: str, name: str) -> None:
    """Raises 403 where only the broker may give such a name."""
    if name.startswith(_RESERVED):
        text = f"{what} name '{name}' contains reserved prefix '{_RESERVED}*'"
        raise AmqpError(ACCESS_REFUSED, text)


def is_reserved(name: str) -> bool:
    return name.startswith(_RESERVED)
