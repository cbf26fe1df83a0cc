"""The loop that skips its waiting: its clock shows the time that would have passed."""

import asyncio
import time

import pytest

from tests.rigs.machine import virtual_time

HOUR_S = 3600.0


def test_an_hour_passes_at_once_while_everybody_waits() -> None:
    async def story() -> tuple[float, float]:
        loop, began_s, began_ns = asyncio.get_running_loop(), time.monotonic(), time.monotonic_ns()
        assert loop.time() - began_s < 1.0
        await asyncio.gather(asyncio.sleep(HOUR_S), asyncio.sleep(HOUR_S / 2))
        return time.monotonic() - began_s, (time.monotonic_ns() - began_ns) / 1e9

    assert virtual_time.run(story()) == pytest.approx((HOUR_S, HOUR_S), abs=1.0)


def test_a_limit_ends_what_would_last_longer() -> None:
    async def story() -> None:
        async with asyncio.timeout(HOUR_S):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        virtual_time.run(story())


def test_a_wait_without_an_event_is_reported_instead_of_hanging() -> None:
    async def story() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match="for ever"):
        virtual_time.run(story())


def test_afterwards_time_is_the_machines_again() -> None:
    there = time.monotonic
    virtual_time.run(asyncio.sleep(HOUR_S))
    assert time.monotonic is there
