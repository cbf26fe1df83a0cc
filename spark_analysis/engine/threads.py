"""Threads that share the work on one run.

1. numpy and pyarrow release the interpreter lock while they compute, and all threads share the
   results. Separate tasks would read and fold the run once each.
2. A single thread computes a result when it is needed, and not before: it keeps nothing longer
   than necessary.
3. Work starts in the order of submission and may wait only for work submitted earlier. So every
   thread that waits waits for one that works.
4. If work fails, every caller that waits for it gets its exception.
5. Large results are dropped after their declared number of uses. A further use computes the result
   again: a wrong number costs time, and never a row.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Threads:
    """A thread pool of `number` threads; use it as a context manager."""

    def __init__(self, number: int) -> None:
        self._pool = ThreadPoolExecutor(number, "judging") if number > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def give(self, work: Callable[[], T], uses: int = 0) -> Callable[[], T]:
        """Submit work and return a function that waits for its result; the work runs once.

        `uses`: drop the result after so many calls; 0: keep it.
        """
        wait = cache(work) if self._pool is None else self._pool.submit(work).result
        return _Forgetting(work, wait, uses) if uses else wait


class _Forgetting(Generic[T]):
    """A result that is dropped after a number of calls."""

    def __init__(self, work: Callable[[], T], wait: Callable[[], T], uses: int) -> None:
        self._work = work
        self._wait: Callable[[], T] | None = wait
        self._left = uses
        self._lock = Lock()

    def __call__(self) -> T:
        with self._lock:
            wait = self._wait or self._work
            self._left -= 1
            if self._left <= 0:
                self._wait = None
        return wait()
