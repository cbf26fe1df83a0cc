"""Hands that share the work on one run.

1. They are threads: numpy and pyarrow let go of the interpreter while they work, and what one hand
   has made all others have. Tasks of their own would read and fold the run once each.
2. One hand works when it is asked, and not before: a run that is not worth threads has none, and
   holds nothing earlier than it needs it.
3. Work begins in the order in which it is given, and may ask only for what was given before it: so
   whoever waits waits for somebody who works.
4. What fails, fails whoever asks for it, as if he had done it himself.
5. What is large is forgotten when the last who wants it has it. Who asks once more than was said
   makes it himself: a wrong number costs time, and never a row.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from types import TracebackType
from typing import Generic, TypeVar

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

    def give(self, work: Callable[[], T], asked: int = 0) -> Callable[[], T]:
        """Asks for what the work makes; it is done once, however often that is.

        `asked`: how often it is, where what it makes is to be forgotten then; 0: never.
        """
        wait = cache(work) if self._pool is None else self._pool.submit(work).result
        return _Forgetting(work, wait, asked) if asked else wait


class _Forgetting(Generic[T]):
    """Gives out what was made so often, and holds it no longer."""

    def __init__(self, work: Callable[[], T], wait: Callable[[], T], asked: int) -> None:
        self._work = work
        self._wait: Callable[[], T] | None = wait
        self._left = asked
        self._lock = Lock()

    def __call__(self) -> T:
        with self._lock:
            wait = self._wait or self._work
            self._left -= 1
            if self._left <= 0:
                self._wait = None
        return wait()
