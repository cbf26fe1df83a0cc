"""Whether the user that mqproof is to brokers which are not ours may do what it will have to do.

1. Before a run by the user's tags, as the cluster reports them. It reports rights on names
   (`^mqproof[.-]`) to no user: `doctor` and `run` find them by trying what a run does with a queue
   (agent_calls/amqp_trial.py).
2. What an API does not tell is no contradiction.
"""

from collections.abc import Mapping
from typing import Any

from harness.cluster.port import DeployError
from harness.plan.layouts.topology import Topology
from harness.systems.foreign import Examined
from harness.systems.rabbitmq.api import ManagementApi
from harness.systems.rabbitmq.foreign.core.looks import permissions, wrong_arguments

WHO_AM_I = "/api/whoami"
TRIED = "queues of runs"
ACCESS_REFUSED = "ACCESS_REFUSED"  # reply code 403 of AMQP, by name
_PRECONDITION_FAILED = "PRECONDITION_FAILED"  # 406
# By the step of a trial that is refused: the permission, and on what.
_NEEDED = {
    "declare": "configure on ^mqproof[.-]",
    "publish": r"write on ^(mqproof[.-].*|amq\.default)$",
    "consume": "read on ^mqproof[.-]",
    "delete": "configure on ^mqproof[.-]",
}
_ALL, _LOOKS, _POLICIES = "administrator", "monitoring", "policymaker"


def permitted(topology: Topology, refused: str, detail: str) -> Examined:
    """What a trial found. `refused`: its step, or empty."""
    if not refused:
        return Examined(TRIED, "declare, publish, consume and delete work", "")
    if _PRECONDITION_FAILED in detail:
        problem = wrong_arguments(topology, f"{refused}: {detail}")
        return Examined(TRIED, problem.text, problem.advice, problem)
    found = f"the user in ${topology.user} may not {refused}: {detail}"
    return Examined(TRIED, found, f"it needs {_NEEDED[refused]}: {permissions(topology)}")


async def missing(topology: Topology, api: ManagementApi) -> tuple[str, ...]:
    """Each tag that the user lacks, and what for."""
    try:
        return lacking(topology, await api.first(WHO_AM_I))
    except DeployError:
        return ()  # it has no such page, or answers nothing: others tell that


def lacking(topology: Topology, user: Mapping[str, Any]) -> tuple[str, ...]:
    """`user`: name and tags, which older brokers tell as one text."""
    tags = user.get("tags")
    held = set(tags.split(",") if isinstance(tags, str) else map(str, tags or ()))
    if tags is None or _ALL in held:
        return ()
    needed = {_LOOKS: "to look at nodes"}
    if topology.own.sets:
        needed[_POLICIES] = 'as `policies = "set"` asks for'
    return tuple(
        f"the user in ${topology.user} lacks the tag {tag!r}, {why}"
        for tag, why in needed.items()
        if tag not in held
    )
