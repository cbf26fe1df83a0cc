"""Runs a test that is a coroutine in an event loop of its own, within a limit."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

Arguments = ParamSpec("Arguments")
LIMIT_S = 30.0


Test = Callable[Arguments, Coroutine[Any, Any, None]]


def within(limit_s: float) -> Callable[[Test[Arguments]], Callable[Arguments, None]]:
    """For a test that starts many processes, which takes its time on a machine that is busy."""

    def decorate(test: Test[Arguments]) -> Callable[Arguments, None]:
        @functools.wraps(test)
        def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            asyncio.run(asyncio.wait_for(test(*args, **kwargs), limit_s))

        return run

    return decorate


def in_a_loop(test: Test[Arguments]) -> Callable[Arguments, None]:
    return within(LIMIT_S)(test)
