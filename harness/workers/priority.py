"""Real time for workers, where the machine lets them: who waits for a processor measures that.

1. Only a paced load asks for it. One that never sleeps would take the processor from the very
   brokers that it measures.
2. The kernel watches: a worker that does not sleep for BUSY_LIMIT_US on end is told so, and is a
   process like others from then on.
3. A machine that refuses is no error: it is recorded, and the worker's own lateness says whether
   it mattered.
"""

import os
import resource
import signal
from typing import Any

BUSY_LIMIT_US = 500_000
REAL_TIME = "real time"


def ask_for_real_time() -> str:
    """How this process is scheduled now: `real time`, or `as others: ` and the reason."""
    try:
        signal.signal(signal.SIGXCPU, _give_back)
        _, most = resource.getrlimit(resource.RLIMIT_RTTIME)
        resource.setrlimit(resource.RLIMIT_RTTIME, (BUSY_LIMIT_US, most))
        # Threads that look names up need no hurry.
        policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(1))
    except (OSError, ValueError) as error:  # ValueError: over a limit that somebody else set
        return f"as others: {getattr(error, 'strerror', None) or error}"
    return REAL_TIME


def _give_back(_signal: int, _frame: Any) -> None:
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
