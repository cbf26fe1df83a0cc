"""An event loop of its own for clusters that stand while many tests look at them."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

LIMIT_S = 120.0
Play = Callable[[Awaitable[Any]], Any]


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """Runs a coroutine to its end; between tests the loop runs on, so that the agent does."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def whole(work: Awaitable[Any]) -> Any:
        return await work

    yield lambda work: asyncio.run_coroutine_threadsafe(whole(work), loop).result(LIMIT_S)
    loop.call_soon_threadsafe(loop.stop)
