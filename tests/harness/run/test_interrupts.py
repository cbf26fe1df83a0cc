"""What an interrupt leaves time for, and what a person reads of it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from harness.deploy.local import removal
from harness.run.interrupts import AGAIN, LOOKS_S, Interrupt, RunInterrupted, notice
from harness.run.live import after_load
from tests.rigs.machine import virtual_time


def seconds(work: Coroutine[Any, Any, Any]) -> tuple[Any, float]:
    """What it gives, and how long it took."""

    async def timed() -> tuple[Any, float]:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        return await work, loop.time() - began_s

    return virtual_time.run(timed())


async def interrupt_after(interrupt: Interrupt, *after_s: float) -> None:
    for each in after_s:
        asyncio.get_running_loop().call_later(each, interrupt.ask)


@pytest.mark.parametrize(
    ("faults", "reason", "words"),
    [
        (0, "", "interrupted: undoing 0 faults"),
        (1, "", "interrupted: undoing 1 fault"),
        (2, "", "interrupted: undoing 2 faults"),
        (1, "no guardian", "interrupted: undoing 1 fault (no guardian)"),
    ],
)
def test_the_number_of_faults_to_undo_is_reported(faults: int, reason: str, words: str) -> None:
    assert notice(faults, reason) == words


def test_an_interrupt_is_reported_at_most_twice() -> None:
    said: list[str] = []
    interrupt = Interrupt(said.append)
    interrupt.armed["quick-1"] = lambda: 2
    for _ in range(4):
        interrupt.ask()
    assert said == ["interrupted: undoing 2 faults", AGAIN]


def test_an_internal_reason_never_hurries_but_a_person_does() -> None:
    interrupt = Interrupt()
    interrupt.ask("one")
    interrupt.ask("another")
    assert (interrupt.reason, interrupt.hurried) == ("one", False)
    interrupt.ask()
    assert (interrupt.reason, interrupt.hurried) == ("one", True)


def test_interrupt_of_all_runs_reaches_each_but_not_vice_versa() -> None:
    of_all, of_one = Interrupt(), Interrupt()
    of_one.ask()
    of_one.follow(of_all)
    assert (of_all.is_set(), of_one.hurried) == (False, False)
    of_all.ask()
    of_all.ask()
    of_one.follow(of_all)
    assert of_one.hurried


def test_the_first_interrupt_ends_every_wait() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append("ended")

    async def story() -> None:
        interrupt = Interrupt()
        await interrupt_after(interrupt, 3)
        with pytest.raises(RunInterrupted):
            await interrupt.unless(work())

    _, took_s = seconds(story())
    assert 3 <= took_s < 3.1
    assert ended == ["ended"]


def test_result_completed_before_an_interrupt_is_still_returned() -> None:
    async def story() -> int:
        interrupt = Interrupt()
        done = asyncio.get_running_loop().create_future()
        done.set_result(7)
        interrupt.ask()
        return await interrupt.unless(done)

    assert seconds(story())[0] == 7


@pytest.mark.parametrize(
    ("after_s", "lasts_s", "answer", "took_s"),
    [
        ((), 100.0, "seen", 100.0),
        ((3.0,), 100.0, None, 3.0 + LOOKS_S),
        ((3.0,), 5.0, "seen", 5.0),
        ((3.0, 4.0), 100.0, None, 4.0),
        ((3.0, 4.5, 5.0), 4.0, "seen", 4.0),
    ],
)
def test_a_look_ends_three_seconds_after_an_interrupt(
    after_s: tuple[float, ...], lasts_s: float, answer: str | None, took_s: float
) -> None:
    async def look() -> str:
        await asyncio.sleep(lasts_s)
        return "seen"

    async def story() -> str | None:
        interrupt = Interrupt()
        await interrupt_after(interrupt, *after_s)
        return await interrupt.look(look())

    said, lasted_s = seconds(story())
    assert said == answer
    assert lasted_s == pytest.approx(took_s, abs=0.1)


def test_looks_tidying_and_removal_end_within_ten_seconds() -> None:
    assert LOOKS_S + after_load.TIDY_LIMIT_S + removal.ASK_LIMIT_S < 10.0
