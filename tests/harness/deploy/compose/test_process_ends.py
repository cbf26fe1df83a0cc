"""What the engine's events tell of the ends of brokers' processes."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

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
