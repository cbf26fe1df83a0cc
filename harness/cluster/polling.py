"""Waiting for a condition of the world: look again and again until it holds or time is up."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    retry_if_result,
    stop_after_delay,
    wait_fixed,
)

from harness.cluster.port import DeployError

Look = TypeVar("Look")
POLL_INTERVAL_S = 0.2


async def until(
    look: Callable[[], Awaitable[Look]], done: Callable[[Look], bool], limit_s: float
) -> Look:
    """The first look that is done, else the last one. Raises DeployError if the last one did."""
    retrying = AsyncRetrying(
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(POLL_INTERVAL_S),
        retry=retry_if_exception_type(DeployError) | retry_if_result(lambda seen: not done(seen)),
        retry_error_callback=_last,
    )

    async def looking() -> Look:  # tenacity awaits only what is declared as a coroutine
        return await look()

    return await retrying(looking)


def _last(state: RetryCallState) -> object:
    assert state.outcome is not None, "a look came before the end"
    return state.outcome.result()
