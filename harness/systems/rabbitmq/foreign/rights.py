"""Whether the user that mqproof is to brokers which are not ours may do what it will have to do.

1. By the user's tags, as the cluster tells them: nothing is tried. Of rights on names
   (`^mqproof[.-]`) no user is told; who lacks one hears it from the broker, when it is needed.
2. What an API does not tell is no contradiction.
"""

from collections.abc import Mapping
from typing import Any

from harness.cluster.port import DeployError
from harness.plan.topology import Topology
from harness.systems.rabbitmq.api import ManagementApi

WHO_AM_I = "/api/whoami"
_ALL, _LOOKS, _POLICIES = "administrator", "monitoring", "policymaker"


async def missing(topology: Topology, api: ManagementApi) -> tuple[str, ...]:
    """Each tag that the user lacks, and what for."""
    try:
        return lacking(topology, await api.first(WHO_AM_I))
    except DeployError:
        return ()  # it has no such page, or answers nothing: others tell that


def lacking(topology: Topology, said: Mapping[str, Any]) -> tuple[str, ...]:
    """`said`: name and tags, which older brokers tell as one text."""
    tags = said.get("tags")
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
