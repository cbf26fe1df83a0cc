"""Whether anything else is busy on this machine: asked before each play, when we do nothing.

1. Busy is the share of all cores' time in LOOK_S in which they worked (/proc/stat).
2. If that cannot be read, the answer is unknown, with the reason.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

LOOK_S, AGAIN_S = 3.0, 15.0
STAT = Path("/proc/stat")
_IDLE = (3, 4)  # columns: idle, and waiting for a disk that somebody else may use


class Unknown(Exception):
    """The reason why the load of the machine is unknown."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """What all cores did since they were started."""

    idle: int
    all: int


def ticks(text: str) -> Ticks:
    """Of /proc/stat (proc_stat(5)): its first line sums over cores. Guests' time is in user's."""
    word, *columns = text.partition("\n")[0].split() or [""]
    if word != "cpu" or len(columns) < 8 or not all(one.isdigit() for one in columns):
        raise Unknown(f"{STAT} has no line of all cores")
    numbers = [int(one) for one in columns[:8]]
    return Ticks(sum(numbers[column] for column in _IDLE), sum(numbers))


def busy(pause: Callable[[float], None], stat: Path = STAT) -> float:
    """The share of all cores' time that was used just now. Raises Unknown."""
    try:
        before = ticks(stat.read_text())
        pause(LOOK_S)
        after = ticks(stat.read_text())
    except OSError as error:
        raise Unknown(f"{stat}: {error.strerror}") from None
    passed = after.all - before.all
    return 1 - (after.idle - before.idle) / passed if passed else 0.0


def wait(share_max: float, wait_s: float, look: Callable[[], float]) -> str:
    """Nothing to tell as soon as no more than that share is busy; after `wait_s` how busy it still
    is. `look`: raises Unknown."""
    attempts = Retrying(
        retry=retry_if_result(lambda share: share > share_max),
        stop=stop_after_delay(wait_s),
        wait=wait_fixed(AGAIN_S),
    )
    try:
        attempts(look)
    except RetryError as error:
        share = error.last_attempt.result()
        return (
            f"{100 * share:.0f} % of this machine's cores were busy with something else for "
            f"{wait_s:g} s, {100 * share_max:g} % may be"
        )
    except Unknown as reason:
        return f"the load of this machine cannot be measured: {reason}"
    return ""


def pause(seconds: float) -> None:
    """What is measured takes its time: nothing is waited for."""
    time.sleep(seconds)  # noqa: TID251
