"""What the engine's events tell of the ends of brokers' processes."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import docker
import pytest
import requests

from harness.cluster.port import DeployError, Ended
from harness.deploy.compose.cluster import FoundContainers
from harness.deploy.compose.process_ends import ENGINE, MEMORY, EventReader, watch
from tests.rigs.machine.loops import in_a_loop

PLACES = {"c1": "rmq1", "c2": "rkt1/broker-a"}


def event(action: str, container: str = "c1", at: int = 1, **attributes: str) -> dict[str, Any]:
    actor = {"ID": container, "Attributes": attributes}
    return {"Action": action, "Actor": actor, "time": at, "timeNano": at * 10**9}


def taken(*events: dict[str, Any]) -> list[Ended]:
    reader = EventReader(PLACES)
    found = [reader.take(one, 7) for one in events]
    return [one for one in found if one is not None]


def test_a_dead_process_is_reported_with_place_and_status() -> None:
    assert taken(event("die", exitCode="137")) == [Ended("rmq1", 7, 137)]
    assert taken(event("die", "c2", exitCode="1")) == [Ended("rkt1/broker-a", 7, 1)]


def test_a_status_that_is_none_is_not_known() -> None:
    assert taken(event("die")) == [Ended("rmq1", 7, None)]


def test_containers_without_a_broker_are_ignored() -> None:
    assert taken(event("die", "worker", exitCode="0")) == []


@pytest.mark.parametrize("signal", ["15", "9", "2", "3"])
def test_an_end_on_request_of_the_engine_keeps_its_cause(signal: str) -> None:
    found = taken(event("kill", signal=signal), event("die", at=2, exitCode="0"))
    assert found == [Ended("rmq1", 7, 0, ENGINE)]


def test_a_harmless_signal_explains_no_end() -> None:
    found = taken(event("kill", signal="1"), event("die", at=2, exitCode="0"))
    assert found == [Ended("rmq1", 7, 0)]


def test_an_out_of_memory_kill_is_reported_by_the_engine() -> None:
    found = taken(event("oom"), event("die", at=2, exitCode="137"))
    assert found == [Ended("rmq1", 7, 137, MEMORY)]


def test_old_cause_of_death_is_not_reused_for_the_next() -> None:
    events = [event("oom"), event("die", at=2, exitCode="137"), event("die", at=9, exitCode="1")]
    assert taken(*events) == [Ended("rmq1", 7, 137, MEMORY), Ended("rmq1", 7, 1)]


def test_events_repeated_after_reopening_the_stream_are_reported_once() -> None:
    died = event("die", at=4, exitCode="137")
    assert len(taken(died, died)) == 1


class Engine:
    """The client of an engine whose streams of events end one after the other. It is 100 s."""

    def __init__(self, *streams: Sequence[dict[str, Any]]) -> None:
        self._streams = list(streams)
        self.since: list[int] = []

    def info(self) -> dict[str, str]:
        return {"SystemTime": "1970-01-01T01:01:40.123456789+01:00"}

    def events(self, since: int, **_: object) -> Iterator[dict[str, Any]]:
        self.since.append(since)
        every = self._streams.pop(0) if self._streams else ()
        return (one for one in every if one.get("time", since) >= since)


@in_a_loop
async def test_an_event_that_cannot_be_read_ends_the_watch_with_a_reason() -> None:
    died = event("die", at=101, exitCode="1")
    ends: Any = watch(cast(Any, Engine((died, {"Action": "die"}))), "project", PLACES)
    assert (await anext(ends)).exit_code == 1
    with pytest.raises(DeployError, match=r"events cannot be read: KeyError\('Actor'\)"):
        await anext(ends)


@in_a_loop
async def test_an_end_while_the_stream_is_broken_is_reported_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before any event, too: the second stream begins where the watch began."""
    monkeypatch.setattr("harness.deploy.compose.process_ends._REOPEN_AFTER_S", 0.01)
    early, died = event("die", at=99, exitCode="2"), event("die", at=101, exitCode="1")
    engine = Engine((), (early, died))
    ends: Any = watch(cast(Any, engine), "project", PLACES)
    assert (await anext(ends)).exit_code == 1
    await ends.aclose()
    assert engine.since[0] in (99, 100)
    assert engine.since[1] == engine.since[0]


@in_a_loop
async def test_an_engine_that_stays_silent_ends_the_watch_with_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Gone(Engine):
        def events(self, since: int, **_: object) -> Iterator[dict[str, Any]]:
            if self.since:
                raise requests.ConnectionError("refused")
            return super().events(since)

    monkeypatch.setattr("harness.deploy.compose.process_ends._REOPEN_AFTER_S", 0.01)
    monkeypatch.setattr("harness.deploy.compose.process_ends._LOST_AFTER_S", 0.2)
    ends: Any = watch(cast(Any, Gone(())), "project", PLACES)
    with pytest.raises(DeployError, match="the engine has not answered"):
        await anext(ends)


class FrozenEngine:
    """The API of an engine on a Unix socket that accepts requests and, once frozen, gives no
    answer. Its stream of events is open and silent."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(64)
        self.client = docker.DockerClient(f"unix://{path}", version="1.41", timeout=60)
        self.frozen = threading.Event()
        self.pings = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        while request := connection.recv(65_536):
            self.pings += b"/_ping" in request
            if self.frozen.is_set():
                continue
            body = b"OK"
            if b"/info" in request:
                body = b'{"SystemTime": "1970-01-01T01:01:40+01:00"}'
            if b"/events" in request:
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            else:
                length = str(len(body)).encode()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\n")
                connection.sendall(body)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FrozenEngine]:
    for name, seconds in (("PING_EVERY", 0.02), ("ANSWER_LIMIT", 0.1), ("LOST_AFTER", 0.5)):
        monkeypatch.setattr(f"harness.deploy.compose.process_ends._{name}_S", seconds)
    made = FrozenEngine(tmp_path / "docker.sock")
    yield made
    made.close()


@in_a_loop
async def test_a_frozen_engine_ends_the_watch_though_its_stream_is_open(
    engine: FrozenEngine,
) -> None:
    ends: Any = watch(engine.client, "project", PLACES)
    lost = asyncio.ensure_future(anext(ends))
    while engine.pings < 30:  # of an engine that answers the watch goes on, for longer than 0.5 s
        assert not lost.done()
        await asyncio.sleep(0.02)
    engine.frozen.set()
    with pytest.raises(DeployError, match=r"the engine has not answered for 0\.5 s"):
        await asyncio.wait_for(lost, 20)


@in_a_loop
async def test_an_engine_that_was_frozen_from_the_start_ends_the_watch(
    engine: FrozenEngine,
) -> None:
    engine.frozen.set()
    ends: Any = watch(engine.client, "project", PLACES)
    with pytest.raises(DeployError, match=r"the engine has not answered for 0\.5 s"):
        await asyncio.wait_for(anext(ends), 20)


def test_events_from_before_the_watch_are_dropped() -> None:
    reader = EventReader(PLACES)
    reader.begin_ns = 5 * 10**9
    assert reader.take(event("die", at=4, exitCode="1"), 7) is None
    assert reader.take(event("die", at=5, exitCode="1"), 7) is not None


def test_each_process_of_a_shared_host_has_its_own_place() -> None:
    containers = FoundContainers(
        {
            ("host", "rkt1", ""): "h",
            ("process", "rkt1", "rkt1-broker-a"): "a",
            ("process", "rkt1", "rkt1-name-server"): "n",
            ("process", "rmq1", "rmq1-broker"): "b",
            ("toxiproxy", "toxiproxy", ""): "t",
        }
    )
    assert containers.processes() == {"a": "rkt1/broker-a", "n": "rkt1/name-server", "b": "rmq1"}
