"""Ends of a project's processes, by the engine's own events.

1. An end is reported when the engine reports it. The event names the cause if the engine saw it:
   an out-of-memory kill, or a command to the engine. Otherwise only the signal is known.
2. The stream is read in a daemon thread. If it breaks off, it is opened again from the last event
   on, or from the begin of the watch; duplicates, and what came before the watch, are dropped.
3. A heartbeat pings the engine every _PING_EVERY_S, because a frozen engine leaves the stream open
   and silent. If the engine gives no answer, or does not open the stream, for _LOST_AFTER_S, the
   watch is lost.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import docker
import requests
from docker.errors import DockerException

from harness.cluster.port import DeployError, Ended
from harness.deploy import labels

MEMORY = "the kernel, for want of memory"
ENGINE = "somebody, through the engine"
ENDING_SIGNALS = frozenset(("2", "3", "9", "15"))
_REOPEN_AFTER_S = 1.0
_LOST_AFTER_S = 20.0  # so long the engine may give no answer, or refuse to open the stream
_PING_EVERY_S = 2.0
_ANSWER_LIMIT_S = 5.0  # of one request of the heartbeat
_KINDS = ("die", "kill", "oom")
_Report = Callable[[Ended | DeployError], None]


class EventReader:
    """PURE: events in, ends out. `places`: container -> the process that runs in it."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._seen: set[tuple[str, str, int]] = set()
        self._ended_by: dict[str, str] = {}
        # By the engine's clock.
        self.begin_ns = 0
        self.latest_s = 0

    def take(self, event: Mapping[str, Any], at_ns: int) -> Ended | None:
        """None where no process has ended by it."""
        actor = event["Actor"]
        container, attributes, kind = actor["ID"], actor["Attributes"], event["Action"]
        key = (container, kind, event["timeNano"])
        if container not in self._places or key in self._seen:
            return None
        if event["timeNano"] < self.begin_ns:
            return None
        self._seen.add(key)
        self.latest_s = max(self.latest_s, event["time"])
        if kind == "oom":
            self._ended_by[container] = MEMORY
        elif kind == "kill" and attributes.get("signal") in ENDING_SIGNALS:
            self._ended_by.setdefault(container, ENGINE)
        if kind != "die":
            return None
        code = attributes.get("exitCode", "")
        ended_by = self._ended_by.pop(container, "")
        return Ended(
            self._places[container], at_ns, int(code) if code.isdecimal() else None, ended_by
        )


async def watch(
    client: docker.DockerClient, project: str, places: Mapping[str, str]
) -> AsyncIterator[Ended]:
    """Until closed. Raises DeployError if events cannot be read any more."""
    arrived: asyncio.Queue[Ended | DeployError] = asyncio.Queue()
    stream = _Stream(client, project, EventReader(places))
    loop = asyncio.get_running_loop()

    def report(news: Ended | DeployError) -> None:
        with suppress(RuntimeError):  # the loop has ended before this thread
            loop.call_soon_threadsafe(arrived.put_nowait, news)

    for name, work in (("process ends", stream.read), ("engine heartbeat", stream.ping)):
        threading.Thread(target=_work, args=(work, report), name=name, daemon=True).start()
    try:
        while True:
            news = await arrived.get()
            if isinstance(news, DeployError):
                raise news
            yield news
    finally:
        stream.close()


def _work(work: Callable[[_Report], None], report: _Report) -> None:
    try:
        work(report)
    except Exception as failure:  # an exception that leaves a thread goes unseen
        report(DeployError(f"the engine's events cannot be read: {failure!r}"))


class _Stream:
    """The engine's events of one project, in a thread of their own."""

    def __init__(self, client: docker.DockerClient, project: str, reader: EventReader) -> None:
        self._client = client
        self._filters = {
            "type": "container",
            "label": f"{labels.PROJECT}={project}",
            "event": list(_KINDS),
        }
        self._reader = reader
        self._closed = threading.Event()
        self._open: Any = None

    def ping(self, report: _Report) -> None:
        """Ping the engine until closed; report that the watch is lost if it gives no answer."""
        answered_s = time.monotonic()
        while not self._closed.wait(_PING_EVERY_S):
            api = self._client.api
            with suppress(requests.RequestException, OSError):
                # `ping` of the library would wait for as long as any other call may take.
                api.get(f"{api.base_url}/_ping", timeout=_ANSWER_LIMIT_S).raise_for_status()
                answered_s = time.monotonic()
            if time.monotonic() - answered_s > _LOST_AFTER_S:
                report(DeployError(f"the engine has not answered for {_LOST_AFTER_S:g} s"))
                return

    def read(self, report: _Report) -> None:
        """Report every end until closed."""
        began_s, since = time.monotonic(), 0
        open_s = began_s
        while not self._closed.is_set():
            is_open = False
            with suppress(DockerException, requests.RequestException, OSError):
                if not since:
                    self._reader.begin_ns = self._begin_ns(began_s)
                    since = self._reader.begin_ns // 10**9
                self._open = self._client.events(since=since, filters=self._filters, decode=True)
                is_open = True
                for event in self._open:
                    ended = self._reader.take(event, time.monotonic_ns())
                    if ended is not None:
                        report(ended)
            since = self._reader.latest_s or since
            open_s = time.monotonic() if is_open else open_s
            if time.monotonic() - open_s > _LOST_AFTER_S:
                raise ConnectionError(f"the engine has not answered for {_LOST_AFTER_S:g} s")
            self._closed.wait(_REOPEN_AFTER_S)

    def _begin_ns(self, began_s: float) -> int:
        """Return what the engine's clock said at `began_s` of CLOCK_MONOTONIC, at the latest."""
        said = datetime.fromisoformat(self._client.info()["SystemTime"])
        return int((said.timestamp() - (time.monotonic() - began_s)) * 10**9)

    def close(self) -> None:
        self._closed.set()
        if self._open is not None:
            with suppress(DockerException, OSError, AttributeError):
                self._open.close()
