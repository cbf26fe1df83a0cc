"""Guardians that die: another takes the place, or everything ends with the reason."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.cleanup.guardian import DeploymentKind, GuardianError
from harness.cleanup.guards import UNGUARDED_S, Guards
from harness.cluster.port import DeployError
from harness.run.interrupts import Interrupt


@dataclass
class Guardian:
    """A guardian in memory, which dies on request."""

    ended: str = ""
    done_with: bool = False

    def watching(self) -> bool:
        return not self.ended

    def ending(self) -> str:
        return self.ended

    def done(self) -> None:
        if self.ended:
            raise GuardianError("it is not there")
        self.done_with = True


@dataclass
class World:
    """Guardians as they are started; `takes_s` of each start, the last one of all later ones."""

    takes_s: tuple[float, ...] = (0.0,)
    refuses: int = 0  # so many starts after the first
    guardians: list[Guardian] = field(default_factory=list)
    starts: int = 0

    def start(self, project: str, folder: Path, keep: bool, kind: DeploymentKind) -> Guardian:
        self.starts += 1
        takes_s = self.takes_s[min(self.starts, len(self.takes_s)) - 1]
        threading.Event().wait(takes_s)  # in a thread of its own: the loop goes on
        if 1 < self.starts <= 1 + self.refuses:
            raise GuardianError("the disk is full")
        self.guardians.append(Guardian())
        return self.guardians[-1]


@dataclass
class Watched:
    world: World
    guards: Guards
    interrupt: Interrupt
    said: list[str]


def watched(
    folder: Path, world: World, story: Callable[[Watched], Coroutine[Any, Any, None]]
) -> Watched:
    """Plays a story while the guards watch, and ends them."""
    said: list[str] = []
    watch = Watched(
        world, Guards(folder, False, said.append, world.start), Interrupt(said.append), said
    )

    async def play() -> None:
        watch.guards.begin(DeploymentKind.LOCAL, "p")
        over = asyncio.Event()
        watching = asyncio.create_task(watch.guards.watch(over, watch.interrupt.ask))
        await asyncio.wait_for(story(watch), 20)
        over.set()
        await watching
        watch.guards.end()

    asyncio.run(play())
    return watch


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def test_one_that_dies_has_a_successor_and_it_is_reported(tmp_path: Path) -> None:
    async def story(watch: Watched) -> None:
        watch.world.guardians[0].ended = "signal 9"
        await until(lambda: len(watch.said) == 2)

    watch = watched(tmp_path, World(), story)
    assert watch.said[0] == "the guardian of p died (signal 9): another one is started"
    assert watch.said[1].startswith("p is guarded again, after 0.")
    assert not watch.interrupt.is_set()
    assert watch.world.guardians[1].done_with


def test_each_time_that_one_dies_another_takes_its_place(tmp_path: Path) -> None:
    async def story(watch: Watched) -> None:
        def replaced(count: int) -> bool:
            return len(watch.world.guardians) == count

        for number in range(3):
            watch.world.guardians[number].ended = "signal 9"
            await until(partial(replaced, number + 2))

    watch = watched(tmp_path, World(), story)
    assert [one.done_with for one in watch.world.guardians] == [False, False, False, True]


def test_a_start_that_fails_is_tried_again_in_time(tmp_path: Path) -> None:
    async def story(watch: Watched) -> None:
        watch.world.guardians[0].ended = "status 1"
        await until(lambda: len(watch.world.guardians) == 2)

    watch = watched(tmp_path, World(refuses=2), story)
    assert "no other guardian of p: the disk is full" in watch.said
    assert not watch.interrupt.is_set()


def test_runs_end_with_a_reason_after_two_seconds_without_guardian(
    tmp_path: Path,
) -> None:
    took_s = 0.0

    async def story(watch: Watched) -> None:
        nonlocal took_s
        began_s = time.monotonic()
        watch.world.guardians[0].ended = "signal 9"
        await until(watch.interrupt.is_set)
        took_s = time.monotonic() - began_s

    watch = watched(tmp_path, World(refuses=1000), story)
    why = "the guardian of p died (signal 9), and there was none for more than 2 s"
    assert watch.interrupt.reason == why
    assert f"interrupted: undoing 0 faults ({why})" in watch.said
    assert UNGUARDED_S <= took_s < UNGUARDED_S + 1.0
    assert not [line for line in watch.said if "mqproof heal" in line]


def test_one_that_comes_too_late_is_ended_as_well(tmp_path: Path) -> None:
    async def story(watch: Watched) -> None:
        watch.world.guardians[0].ended = "signal 9"
        await until(watch.interrupt.is_set)

    watch = watched(tmp_path, World(takes_s=(0.0, UNGUARDED_S + 0.5)), story)
    assert [one.done_with for one in watch.world.guardians] == [False, True]


def test_without_a_first_one_nothing_is_started(tmp_path: Path) -> None:
    def refuse(*_: object) -> Guardian:
        raise GuardianError("no")

    with pytest.raises(DeployError, match="so nothing is started"):
        Guards(tmp_path, False, lambda _: None, refuse).begin(DeploymentKind.LOCAL, "p")
