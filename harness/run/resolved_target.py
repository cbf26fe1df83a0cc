"""PURE: the role of a fault's target for the queues, at some moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from faults.places import split
from harness.cluster.port import Roles
from harness.plan.model import BALANCER, STANDBY
from harness.plan.servers import Servers
from harness.run.resolving import NAME_SERVER, promoted_rank, role_of_places

_OWN_ROLES = (BALANCER, STANDBY, NAME_SERVER)  # they never hold a queue


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """The target of one window. `roles`: by queue, the hosts that held it when it opened."""

    servers: Servers
    resolved: str = ""  # places as one text (faults/places.py); "": not resolved yet
    role: str = ""  # the target's role then, as it is recorded
    roles: Mapping[str, Roles] = field(default_factory=dict)

    @property
    def target_role(self) -> str:
        return self.role_by(self.roles)

    def role_by(self, roles: Mapping[str, Roles]) -> str:
        """Return its role for queues by the roles of some moment."""
        if self.role in _OWN_ROLES:
            return self.role
        return role_of_places(split(self.resolved), roles, self.servers)

    @property
    def takes_a_copy(self) -> bool:
        """Return whether it held a queue that has mirrors."""
        return any(
            one.mirrors and self.resolved in (one.master, *one.mirrors)
            for one in self.roles.values()
        )

    def synchronised_by(self, roles: Mapping[str, Roles]) -> bool | None:
        """Return whether it is synchronised for every queue that it mirrors.

        None if it mirrors none, or if no broker reports it.
        """
        own = [one for one in roles.values() if self.resolved in one.mirrors]
        if not own or any(one.synchronised is None for one in own):
            return None
        return all(self.resolved in (one.synchronised or ()) for one in own)

    def promoted_by(self, roles: Mapping[str, Roles]) -> int | None:
        """Return the rank of the mirror that was promoted in its place; None if none was seen."""
        ranks = (
            promoted_rank(before, roles[queue])
            for queue, before in self.roles.items()
            if before.master == self.resolved
        )
        return next((rank for rank in ranks if rank is not None), None)
