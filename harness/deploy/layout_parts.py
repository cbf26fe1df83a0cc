"""What layout files of all systems are made of: strict tables, names, hosts."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_HOST_NAME = r"^[a-z][a-z0-9-]{0,30}$"  # it becomes a host name, a label and a part of names
_TAKEN = frozenset(
    {"agent", "toxiproxy", "workers", "clients", "balancer1", "balancer2"}
)  # stand beside the hosts
HOSTS_MAX = 20
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
Names = Annotated[tuple[str, ...], Field(min_length=1)]
HostName = Annotated[str, Field(pattern=_HOST_NAME)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def distinct(names: list[str]) -> None:
    """Raises ValueError for hosts' names that two have, or that something else has."""
    if len(set(names)) < len(names):
        raise ValueError(f"every host needs a name of its own, found {', '.join(names)}")
    if _TAKEN.intersection(names):
        raise ValueError(f"no host may be called {', '.join(sorted(_TAKEN))}")
