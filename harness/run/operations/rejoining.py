"""What a host that a fault took is to its queues when it is back, and what it holds of them.

Brokers that cannot say leave it unknown.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from harness.cluster.polling import until
from harness.cluster.port import DeployError
from harness.run.core.window_state import WindowState
from harness.run.stage import Stage

RETURN_LIMIT_S = 30.0  # for a host that is back to take its place in a queue again


async def see_what_is_held(stage: Stage, window: WindowState, state: dict[str, Any]) -> None:
    """What it holds when it is first seen as a mirror again, into the window's `state`."""
    target = window.target
    with contextlib.suppress(DeployError, TimeoutError):
        roles = await until(
            stage.roles, lambda found: target.role_by(found) != "none", RETURN_LIMIT_S
        )
        state["synchronised_when_rejoined"] = target.synchronised_by(roles)
        copied = [word for word, role in roles.items() if target.host in role.mirrors]
        if len(copied) == len(roles):
            state["held_when_rejoined"] = await _held(stage, copied, target.host)


async def see_who_is_who(
    stage: Stage, windows: Mapping[int, WindowState], state: Mapping[str, Any]
) -> None:
    """What each struck host is to its queue in the end, where every fault is gone."""
    if not windows or not all(one.facts.gone for one in windows.values()):
        return
    with contextlib.suppress(DeployError, TimeoutError):
        roles = await stage.record_roles()
        for number, window in windows.items():
            own = state["windows"][str(number)]
            own["rejoined_as"] = window.target.role_by(roles)
            own["synchronised_at_last"] = window.target.synchronised_by(roles)


async def _held(stage: Stage, queues: Sequence[str], host: str) -> int | None:
    """The most that a host says it holds of a queue; None where it does not say it of each."""
    broker = stage.cluster.broker
    numbers = [await broker.held(stage.queues[queue], host) for queue in queues]
    known = [number for number in numbers if number is not None]
    return max(known) if len(known) == len(numbers) else None
