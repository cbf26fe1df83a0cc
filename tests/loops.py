"""Runs a test that is a coroutine in an event loop of its own, within a limit."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

Arguments = ParamSpec("Arguments")
LIMIT_S = 30.0


def in_a_loop(
    test: Callable[Arguments, Coroutine[Any, Any, None]],
) -> Callable[Arguments, None]:
    @functools.wraps(test)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), LIMIT_S))

    return run
