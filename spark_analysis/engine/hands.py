"""Hands that share the work on one run.

1. They are threads: numpy and pyarrow let go of the interpreter while they work, and what one hand
   has made all others have. Tasks of their own would read and fold the run once each.
2. One hand works when it is asked, and not before: a run that is not worth threads has none, and
   holds nothing earlier than it needs it.
3. Work begins in the order in which it is given, and may ask only for what was given before it: so
   whoever waits waits for somebody who works.
4. What fails, fails whoever asks for it, as if he had done it himself.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")


class Hands:
    """So many; to be left when everything is done, or nothing matters any more."""

    def __init__(self, number: int) -> None:
        self._pool = ThreadPoolExecutor(number, "judging") if number > 1 else None

    def __enter__(self) -> "Hands":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def give(self, work: Callable[[], T]) -> Callable[[], T]:
        """Asks for what the work makes; it is done once, however often that is."""
        return cache(work) if self._pool is None else self._pool.submit(work).result
