"""The port by which publishers and consumers use a client library; its adapters implement it.

1. A link is one open connection to one broker process. It ends once: by `lost` told to its
   listener, or by our `close` or `abort`, after which its listener hears nothing more.
2. Listeners are called on the event loop, in the order in which frames came.
3. What is handed to `publish` or `acknowledge` leaves the process only after the calling callback
   has returned to the loop; an adapter whose library sends at once must flush the log before.
4. Every await of a link ends: when the link is lost (LinkLost), or by the caller's own time limit.
5. A library's own options are in WorkerConfig.own; only its adapter reads them.
6. A library that fails over by itself (`answers_every_send`) has one link to the whole cluster. It
   answers each send, in the end, and reports where messages came from; its link is never replaced.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from harness.workers.protocol import Endpoint
from spark_analysis.schema.words import Fate, Level, Outcome, Strength


class NoLibrary(Exception):
    """The library cannot be used here, or not for this workload; says why, and how it is got."""


class NotAttached(Exception):
    """A client uses another name server than its workload requires; the text names it.

    It does not dial on: it would be another experiment.
    """


class LinkLost(Exception):
    """A connection could not be made, or ended before it answered; says why."""


class UnknownBacklog(Exception):
    """A broker's answers do not show whether it holds more; the text says why."""


class Answer(NamedTuple):
    """What became of one send; `clock_ns` is CLOCK_MONOTONIC at the library's callback."""

    tag: int
    outcome: Outcome
    strength: Level | Strength | None  # None: what the layout declares of a confirm
    raw: str
    clock_ns: int


class Fetched(NamedTuple):
    """One delivery from a log; `place` names the log, within which `offset` counts.

    None: the library does not say which broker's log it was.
    """

    tag: int
    body: bytes
    place: str | None  # broker/queue; what comes by a way of its own may have another log
    offset: int
    redelivered: bool  # the broker counted a former try
    way: int | None  # the number of one of the system's own ways; None: it came as usual
    clock_ns: int


class Refill(NamedTuple):
    """A load that a link sends by itself: each answer makes room for the next message."""

    log: Path  # where records of attempts are written before their messages leave
    record: bytes  # of some attempt of the load
    body: bytes  # of the same
    origin_ns: int  # CLOCK_MONOTONIC where run time begins
    keys: int  # a sequence's key is the sequence modulo this
    window: int
    sequence: int  # the next one
    tag: int  # its tag
    out: int  # sends whose answers were not heard


class Refilled(NamedTuple):
    """How many messages a link sent by itself since it was last queried."""

    sent: int
    crc32: int  # of their records, as they were written


class MessageTerms(Protocol):
    """Which of a publisher's messages come late on purpose, or are in transactions."""

    def of(self, sequence: int, sent_ns: int) -> tuple[int, Fate] | None:
        """When an attempt is due, in run time, and its fate; None: an ordinary message."""

    def withdrawn(self, sequence: int) -> bool:
        """It is to be rolled back, so that its refusal is what was meant."""


class PublishingListener(Protocol):
    """What a publisher hears of its link."""

    def acked(self, tag: int, multiple: bool) -> None: ...

    def nacked(self, tag: int, multiple: bool) -> None: ...

    def returned(self, body: bytes, raw: str) -> None: ...

    def answered(self, answers: Sequence[Answer]) -> None: ...

    def all_confirmed(self, tags: Sequence[int], clocks_ns: Sequence[int], raw: str) -> None:
        """Each as by an Answer of its own, with the confirm level that the layout declares."""

    def lost(self, reason: str) -> None: ...

    def noticed(self, kind: str, detail: str) -> None:
        """`blocked` and `unblocked`; `attached` to which name server, or `attached elsewhere` and
        dialled again; `route` that it believes in (spark_analysis/schema/views.py says how);
        `asked` for the fate of a transaction, with the answer."""


class ConsumingListener(Protocol):
    """What a consumer hears of its link."""

    def delivered(self, tag: int, redelivered: bool, body: bytes, way: int | None = None) -> None:
        """`way`: the number of one of the system's own ways; None: it came as usual."""

    def fetched(self, messages: Sequence[Fetched]) -> None:
        """One or more, which the library holds back until they are acknowledged."""

    def lost(self, reason: str) -> None: ...

    def noticed(self, kind: str, detail: str) -> None:
        """`cancelled`, `blocked` and `unblocked`; `attached`, `attached elsewhere` and `route`;
        `rebalanced` to which queues."""


class PublishingLink(Protocol):
    """Tags are the count of publishes on this link, from 1."""

    def publish(self, body: bytes) -> None: ...

    def buffered_bytes(self) -> int:
        """What was handed over and has not left the process."""

    async def close(self, limit_s: float) -> None:
        """Nicely, else by abort when the limit has passed."""

    def abort(self) -> None:
        """Closes the socket; nothing that is buffered leaves any more."""


@runtime_checkable
class KeyedPublishingLink(PublishingLink, Protocol):
    """A link of a client that can do `several queues` or `priorities`."""

    def publish_to(self, place: int, key: int, body: bytes) -> None:
        """`place`: of the queue in WorkerConfig.queues. The key decides the priority."""


@runtime_checkable
class BulkPublishingLink(PublishingLink, Protocol):
    """A link that takes many bodies at once, so that a load at maximum rate costs little."""

    def publish_all(self, bodies: Sequence[bytes]) -> None:
        """As `publish`, one after the other."""


@runtime_checkable
class RefillingLink(BulkPublishingLink, Protocol):
    """A link that can send a load at maximum rate by itself, until it is halted or some send is
    not plainly confirmed."""

    def refill(self, load: Refill) -> bool:
        """Begin. False: it cannot, or not yet."""

    def refilled(self) -> Refilled:
        """Raises OSError: a record could not be written; no message left without one."""

    def halt(self) -> Refilled:
        """As `refilled`; nothing is sent after it."""


class ConsumingLink(Protocol):
    async def consume(self) -> None:
        """Returns when the broker has taken the subscription."""

    def acknowledge(self, tag: int) -> None:
        """This delivery and every one before it on this link. Slow consumers call it late."""

    async def ready_messages(self) -> int:
        """Return how many messages the broker holds that it gave to no consumer.

        Raises UnknownBacklog.
        """

    async def close(self, limit_s: float) -> None: ...

    def abort(self) -> None: ...


class Client(Protocol):
    """One client library, set up for one worker. Making it raises NoLibrary."""

    @property
    def library(self) -> str:
        """Its name and version."""

    @property
    def answers_every_send(self) -> bool: ...

    @property
    def terms(self) -> MessageTerms | None:
        """None: every message is an ordinary one."""

    def window(self, wanted: int) -> int:
        """How many sends of a publisher may be out where a workload wants so many."""

    async def publisher(
        self, endpoint: Endpoint, listener: PublishingListener
    ) -> PublishingLink: ...

    async def consumer(self, endpoint: Endpoint, listener: ConsumingListener) -> ConsumingLink: ...
