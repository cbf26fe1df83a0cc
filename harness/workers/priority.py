"""Real-time scheduling for workers, if the machine allows it: waits for a CPU spoil measurements.

1. Only a paced load asks for it. One that never sleeps would take the processor from the very
   brokers that it measures.
2. The kernel watches: if a thread does not sleep for BUSY_LIMIT_US on end, its whole process loses
   real time.
3. Of a library with threads of its own every thread gets it, or none: if they waited for a
   processor while our own loop did not, a stall of the instrument would stay hidden.
4. A JVM's compiler threads do not: they work long without a pause, and no thread waits for them.
   They run behind all other threads, which needs no right.
5. A machine that refuses is no error: it is recorded, and the worker's own lateness says whether
   it mattered.
"""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

BUSY_LIMIT_US = 500_000
REAL_TIME = "real time"
COMPILERS = ("C1 Comp", "C2 Comp")  # "C1 CompilerThread0" of a JVM, which the kernel cuts
BEHIND = 10  # nice; of 0 to 19
_TASKS = Path("/proc/self/task")


def ask_for_real_time() -> str:
    """Return how this thread is scheduled now: `real time`, or `normal priority` and why."""
    # Threads that look names up need no hurry.
    policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK
    return _try(lambda: os.sched_setscheduler(0, policy, os.sched_param(1)))


def ask_for_every_thread() -> str:
    """As ask_for_real_time, of all threads of the process, and those that these will start; but
    for a JVM's compilers, which are put behind."""
    _each(_threads(compilers=True), lambda one: os.setpriority(os.PRIO_PROCESS, one, BEHIND))

    def hasten() -> None:
        hurry = os.sched_param(1)
        _each(_threads(), lambda one: os.sched_setscheduler(one, os.SCHED_RR, hurry))

    return _try(hasten)


def _try(hasten: Callable[[], None]) -> str:
    try:
        signal.signal(signal.SIGXCPU, _give_back)
        _, most = resource.getrlimit(resource.RLIMIT_RTTIME)
        resource.setrlimit(resource.RLIMIT_RTTIME, (BUSY_LIMIT_US, most))
        hasten()
    except (OSError, ValueError) as error:  # ValueError: over a limit that somebody else set
        why = getattr(error, "strerror", None) or error
        return f"normal priority (real-time scheduling was refused: {why})"
    return REAL_TIME


def _give_back(_signal: int, _frame: Any) -> None:
    slow = os.sched_param(0)
    _each(_threads(), lambda one: os.sched_setscheduler(one, os.SCHED_OTHER, slow))


def _threads(compilers: bool = False) -> Iterator[int]:
    """The ids of this process's threads: a JVM's compilers, or all others."""
    for task in _TASKS.iterdir():
        with suppress(OSError):  # it has ended
            name = (task / "comm").read_text()
            if name.startswith(COMPILERS) is compilers:
                yield int(task.name)


def _each(threads: Iterator[int], do: Callable[[int], None]) -> None:
    for thread in threads:
        with suppress(ProcessLookupError):  # it has ended
            do(thread)
