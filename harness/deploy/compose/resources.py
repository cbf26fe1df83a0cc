"""What hosts use, second by second: one stream of the engine's statistics a container.

1. Each stream is read in a daemon thread; samples are put together in the event loop.
2. A host is sampled in the rhythm of the container that owns its network, which is never
   restarted, and a little later, so that its processes' figures are of the same second.
3. A stream that breaks off (the engine was busy) is opened again until we are closed.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import docker
import requests
from docker.errors import DockerException

from harness.cluster.port import HostSample
from harness.deploy.compose.core.stats import HostUse, read

_REOPEN_AFTER_S = 1.0
_TOGETHER_S = 0.3  # the engine looks at all containers once a second, one soon after another


@dataclass(frozen=True, slots=True)
class Watched:
    """A container whose statistics count for a host; `leads`: its rhythm is the host's."""

    container: str
    host: str
    leads: bool


async def watch(
    client: docker.DockerClient, watched: tuple[Watched, ...]
) -> AsyncIterator[HostSample]:
    """Samples until the generator is closed."""
    arrived: asyncio.Queue[_Arrival] = asyncio.Queue()
    closed = threading.Event()
    loop = asyncio.get_running_loop()

    def take(arrival: _Arrival) -> None:
        arrived.put_nowait(arrival)
        if arrival.source.leads:
            loop.call_later(_TOGETHER_S, arrived.put_nowait, replace(arrival, statistics=None))

    def record(source: Watched, statistics: dict[str, Any]) -> None:
        arrival = _Arrival(source, time.monotonic_ns(), statistics)
        with suppress(RuntimeError):  # the loop has ended before this thread
            loop.call_soon_threadsafe(take, arrival)

    for source in watched:
        arguments = (client, source, closed, record)
        threading.Thread(target=_stream, args=arguments, name="statistics", daemon=True).start()
    uses = _uses(watched)
    try:
        while True:
            arrival = await arrived.get()
            use = uses[arrival.source.host]
            if arrival.statistics is not None:
                use.take(arrival.source.container, read(arrival.statistics))
            elif (sample := use.sample(arrival.at_ns)) is not None:
                yield sample
    finally:
        closed.set()


@dataclass(frozen=True, slots=True)
class _Arrival:
    """Statistics of one container; None: those of its host are together by now."""

    source: Watched
    at_ns: int
    statistics: dict[str, Any] | None


def _uses(watched: tuple[Watched, ...]) -> dict[str, HostUse]:
    containers: dict[str, set[str]] = {}
    for source in watched:
        containers.setdefault(source.host, set()).add(source.container)
    return {host: HostUse(host, frozenset(found)) for host, found in containers.items()}


def _stream(
    client: docker.DockerClient,
    source: Watched,
    closed: threading.Event,
    record: Callable[[Watched, dict[str, Any]], None],
) -> None:
    while not closed.is_set():
        with suppress(DockerException, requests.RequestException, OSError):
            statistics = client.api.stats(source.container, stream=True, decode=True)
            for message in statistics:
                if closed.is_set():
                    statistics.close()
                    return
                record(source, message)
        closed.wait(_REOPEN_AFTER_S)
