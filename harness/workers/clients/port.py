"""What publishers and consumers need of a client library: the port that its adapters implement.

1. A link is one open connection to one broker process. It ends once: by `lost` told to its
   listener, or by our `close` or `abort`, after which its listener hears nothing more.
2. Listeners are called on the event loop, in the order in which frames came.
3. What is handed to `publish` or `acknowledge` leaves the process only after the calling callback
   has returned to the loop; an adapter whose library sends at once must flush the log before.
4. Every await of a link ends: when the link is lost (LinkLost), or by the caller's own time limit.
"""

from typing import Protocol

from harness.workers.protocol import Endpoint


class LinkLost(Exception):
    """A connection could not be made, or ended before it answered; says why."""


class PublishingListener(Protocol):
    """What a publisher hears of its link."""

    def acked(self, tag: int, multiple: bool) -> None: ...

    def nacked(self, tag: int, multiple: bool) -> None: ...

    def returned(self, body: bytes, raw: str) -> None: ...

    def lost(self, reason: str) -> None: ...

    def noticed(self, kind: str, detail: str) -> None:
        """`blocked` and `unblocked`."""


class ConsumingListener(Protocol):
    """What a consumer hears of its link."""

    def delivered(self, tag: int, redelivered: bool, body: bytes) -> None: ...

    def lost(self, reason: str) -> None: ...

    def noticed(self, kind: str, detail: str) -> None:
        """`cancelled`, `blocked` and `unblocked`."""


class PublishingLink(Protocol):
    """Tags are the count of publishes on this link, from 1."""

    def publish(self, body: bytes) -> None: ...

    def buffered_bytes(self) -> int:
        """What was handed over and has not left the process."""

    async def close(self, limit_s: float) -> None:
        """Nicely, else by abort when the limit has passed."""

    def abort(self) -> None:
        """Closes the socket; nothing that is buffered leaves any more."""


class ConsumingLink(Protocol):
    async def consume(self) -> None:
        """Returns when the broker has taken the subscription."""

    def acknowledge(self, tag: int) -> None:
        """This delivery and every one before it on this link."""

    async def ready_messages(self) -> int:
        """What the broker still holds and nobody has been given."""

    async def close(self, limit_s: float) -> None: ...

    def abort(self) -> None: ...


class Client(Protocol):
    """One client library, set up for one worker."""

    @property
    def library(self) -> str:
        """Its name and version."""

    async def publisher(
        self, endpoint: Endpoint, listener: PublishingListener
    ) -> PublishingLink: ...

    async def consumer(self, endpoint: Endpoint, listener: ConsumingListener) -> ConsumingLink: ...
