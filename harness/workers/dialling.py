"""Connecting: round the endpoints in order of preference, until one lets us in.

1. A round starts with the first endpoint, the entry; after a watchdog it starts with the one after
   the connection that was taken for dead.
2. Within a round there is no pause; between rounds ROUND_PAUSE_S.
3. Each endpoint has the client's own short time limit; the whole may have a limit, too.
4. Each try is a client event `connecting`, with what the try before it came to.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_delay,
    stop_never,
)

from harness.workers.clients.port import Client, LinkLost
from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.recorder import Recorder

ROUND_PAUSE_S = 0.1

L = TypeVar("L")


class Failure(NamedTuple):
    """Why an endpoint did not let us in."""

    endpoint: Endpoint
    reason: str


def ways(config: WorkerConfig, client: Client) -> tuple[Endpoint, ...]:
    """What a worker dials in turn: a client that fails over by itself knows all from the start."""
    return config.endpoints[:1] if client.answers_every_send else config.endpoints


class Dialler:
    """Opens the connections of one worker, or of one of its queues; numbers its tries, after those
    of others in it."""

    def __init__(
        self, endpoints: tuple[Endpoint, ...], recorder: Recorder, library: str, others: int = 0
    ) -> None:
        assert endpoints, "no way into the cluster"
        self.connection = others
        self.endpoint = endpoints[0]
        self.failure: Failure | None = None
        self._endpoints = endpoints
        self._recorder = recorder
        self._library = library
        self._first = 0

    async def dial(
        self, open_link: Callable[[Endpoint], Awaitable[L]], limit_s: float | None = None
    ) -> L:
        """The link of the first endpoint that lets us in. Raises LinkLost or TimeoutError of the
        last one when `limit_s` has passed."""
        self.failure = None
        count = len(self._endpoints)

        def pause_s(state: RetryCallState) -> float:
            return 0.0 if state.attempt_number % count else ROUND_PAUSE_S

        retrying = AsyncRetrying(
            stop=stop_never if limit_s is None else stop_after_delay(limit_s),
            wait=pause_s,
            retry=retry_if_exception_type((LinkLost, TimeoutError, OSError)),
            reraise=True,
        )
        async for attempt in retrying:
            index = (self._first + attempt.retry_state.attempt_number - 1) % count
            with attempt:
                link = await self._try(open_link, self._endpoints[index])
        self._first = 0
        return link

    def connected(self) -> None:
        """Note that the client library has a connection; the opener calls this."""
        detail = f"{self.endpoint.host} {self._library}"
        self._recorder.event("connected", self.connection, detail)

    def shun(self) -> None:
        """The present connection is taken for dead: the next round starts after its endpoint."""
        self._first = (self._endpoints.index(self.endpoint) + 1) % len(self._endpoints)

    async def _try(self, open_link: Callable[[Endpoint], Awaitable[L]], endpoint: Endpoint) -> L:
        self.connection = self._recorder.next_connection()
        self.endpoint = endpoint
        before = self.failure
        note = f" (before: {before.endpoint.host}: {before.reason})" if before else ""
        self._recorder.event("connecting", self.connection, endpoint.host + note)
        try:
            return await open_link(endpoint)
        except TimeoutError:
            self.failure = Failure(endpoint, "no answer in time")
            raise
        except (LinkLost, OSError) as error:
            self.failure = Failure(endpoint, str(error))
            raise
