"""Requests to a keeper that overlap: a fault by hand, a run, and the end."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.by_hand import serving
from harness.by_hand.serving import KeeperRequests
from harness.by_hand.starting import RunningByHand
from harness.cluster.port import Health
from harness.deploy import by_hand_lines as lines
from harness.workers.protocol import decode, encode
from tests.harness.by_hand.test_runs import SAME, OnOne
from tests.rigs.machine import virtual_time
from tests.rigs.runs.plans import LAYOUT

FREEZE = {"kind": "freeze", "target": "rmq2", "lasts": "1 s"}


class Connection:
    """One connection of a command line: what it requests, and what it gets."""

    def __init__(self, **request: Any) -> None:
        self.reader = asyncio.StreamReader()
        self.reader.feed_data(encode(request))
        self.got: list[dict[str, Any]] = []
        self.closed = False

    def write(self, line: bytes) -> None:
        self.got.append(decode(line))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


class Requested:
    """A keeper of one cluster. `looks`: the cluster's state is not known until it is set."""

    def __init__(self, folder: Path) -> None:
        self.on = OnOne()
        one: Any = self.on.one
        one.experiment, one.ports = folder, ()
        one.named = lambda system: system == LAYOUT.system
        one.for_runs.facts = dict
        self.end = asyncio.Event()
        self.requests = KeeperRequests([self.on.one], "compose", self.end)
        self.requests.begin()
        self.looks = asyncio.Event()
        self.folder = folder
        self.on.cluster.health = self._health  # type: ignore[method-assign]

    async def _health(self, limit_s: float) -> Health:
        await self.looks.wait()
        return Health(True, ())

    def begin(self, connection: Connection) -> "asyncio.Task[None]":
        writer: Any = connection
        return asyncio.create_task(self.requests.answer(connection.reader, writer))

    def run(self) -> Connection:
        return Connection(
            do=lines.RUN,
            system=LAYOUT.system,
            layout=SAME,
            experiment=str(self.folder / "experiment"),
            pid=1,
        )


def fault() -> Connection:
    return Connection(do=lines.FAULT, fault=FREEZE, system="")


@pytest.fixture
def requested(tmp_path: Path) -> Requested:
    return Requested(tmp_path)


async def a_while() -> None:
    await asyncio.sleep(0.1)


def test_a_run_gets_no_cluster_of_a_pending_fault(
    requested: Requested, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asyncio.Event()

    async def slow(running: Sequence[RunningByHand], *_: object) -> RunningByHand:
        await found.wait()
        return running[0]

    async def story() -> None:
        requested.looks.set()
        breaking, running = fault(), requested.run()
        faults = requested.begin(breaking)
        await a_while()
        await asyncio.wait_for(requested.begin(running), 10)
        (answer,) = running.got
        assert answer["problems"] == ["a fault is active: one that is about to begin"]
        assert running.closed
        found.set()
        await faults
        assert breaking.got[-1] == {"say": lines.END, "code": 0}

    monkeypatch.setattr(serving, "meant", slow)
    virtual_time.run(story())


def test_a_fault_that_came_during_the_look_refuses_the_run(requested: Requested) -> None:
    async def story() -> None:
        breaking, running = fault(), requested.run()
        runs = requested.begin(running)
        await a_while()
        faults = requested.begin(breaking)
        await a_while()
        requested.looks.set()
        await asyncio.wait_for(runs, 10)
        (answer,) = running.got
        assert answer["say"] == lines.REFUSED
        assert answer["problems"][0].startswith("a fault is active: freeze rmq2")
        await faults

    virtual_time.run(story())


def test_no_run_begins_while_everything_ends(requested: Requested) -> None:
    async def story() -> None:
        running, down = requested.run(), Connection(do=lines.DOWN)
        runs = requested.begin(running)
        await a_while()
        await requested.begin(down)
        requested.looks.set()
        await asyncio.wait_for(runs, 10)
        (answer,) = running.got
        assert answer["problems"] == ["the clusters are being taken down"]
        assert not down.closed

    virtual_time.run(story())


def test_no_fault_begins_while_everything_ends(
    requested: Requested, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ending(running: Sequence[RunningByHand], *_: object) -> RunningByHand:
        requested.end.set()
        return running[0]

    async def story() -> None:
        breaking = fault()
        await requested.begin(breaking)
        assert [one["say"] for one in breaking.got] == [lines.FAILED]
        assert requested.on.cluster.executor.performed == []

    monkeypatch.setattr(serving, "meant", ending)
    virtual_time.run(story())


def test_a_crash_after_a_run_closes_its_connection(requested: Requested) -> None:
    async def story() -> None:
        running = requested.run()
        requested.looks.set()
        requested.on.workers.crash = RuntimeError("a defect")
        runs = requested.begin(running)
        await a_while()
        running.reader.feed_eof()
        with pytest.raises(RuntimeError):
            await runs
        assert running.closed

    virtual_time.run(story())


def test_a_run_gets_the_cluster_of_its_layout(requested: Requested) -> None:
    first, second = requested.on.one, OnOne().one
    label = f"{LAYOUT.label}+4.0.5"
    newer = replace(LAYOUT, version="4.0.5")
    two: Any = second
    two.choice = replace(second.choice, layout=newer, alias=f"{LAYOUT.system}:{label}")
    two.named = lambda system: system == LAYOUT.system
    requested.requests = KeeperRequests([first, second], "compose", requested.end)
    of_system = {"system": LAYOUT.system}
    assert requested.requests._of({**of_system, "label": label}) is second
    assert requested.requests._of({**of_system, "label": LAYOUT.label}) is first
    assert requested.requests._of({**of_system, "label": "other"}) is None
    alone = KeeperRequests([first], "compose", requested.end)
    assert alone._of({**of_system, "label": "other"}) is first  # its doubts say what has changed
