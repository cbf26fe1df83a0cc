"""Ends every process of a local cluster and removes its data; it may be repeated.

1. Processes are found by their environment, so also those without a handle.
2. If there is time, nodes and proxy are asked to end; then everything is killed, frozen processes
   included.
3. Logs, configurations and the cluster's plan stay: they show what ran.
"""

import shutil
import signal
from pathlib import Path

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from faults.executors import local_processes as processes
from harness.cluster.port import DeployError
from harness.deploy.local.site import data_of

ASK_LIMIT_S = 2.0
KILL_LIMIT_S = 10.0
_INTERVAL_S = 0.05
_ENDED_FIRST = (processes.NODE, processes.PROXY)


async def remove(cluster: str, folder: Path, ask: bool) -> None:
    """End and remove it. `ask`: let nodes end by themselves. Raise DeployError if some remain."""
    if ask:
        for running in processes.of(cluster):
            if running.mark(processes.ROLE) in _ENDED_FIRST:
                running.signal(signal.SIGTERM)
                running.signal(signal.SIGCONT)
        await _ended(cluster, ASK_LIMIT_S, kill=False)
    left = await _ended(cluster, KILL_LIMIT_S, kill=True)
    if left:
        pids = ", ".join(str(running.pid) for running in left)
        raise DeployError(f"{cluster} was not removed completely: processes {pids} still run")
    try:
        shutil.rmtree(data_of(folder))
    except FileNotFoundError:
        return  # it got no further, or somebody has removed it
    except OSError as error:
        raise DeployError(f"{cluster} was not removed completely: {error}") from error


async def _ended(cluster: str, limit_s: float, kill: bool) -> tuple[processes.Running, ...]:
    """Who still runs when the limit has passed; killed ones may have started others meanwhile."""

    async def look() -> tuple[processes.Running, ...]:
        found = processes.of(cluster)
        for running in found if kill else ():
            running.signal(signal.SIGKILL)
        return found

    attempts = AsyncRetrying(
        stop=stop_after_delay(limit_s), wait=wait_fixed(_INTERVAL_S), retry=retry_if_result(bool)
    )
    try:
        return await attempts(look)
    except RetryError as error:
        left: tuple[processes.Running, ...] = error.last_attempt.result()
        return left
