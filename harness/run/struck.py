"""PURE: what the place that a fault strikes is to the queues, at one moment or another."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from faults.places import split
from harness.cluster.port import Roles
from harness.plan.model import BALANCER, STANDBY
from harness.plan.servers import Servers
from harness.run.resolving import NAME_SERVER, promoted_rank, role_of_places

_OWN_ROLES = (BALANCER, STANDBY, NAME_SERVER)  # who holds no queue, at any moment


@dataclass(frozen=True, slots=True)
class Struck:
    """The target of one window. `roles`: who held which queue when it opened, by its word."""

    servers: Servers
    resolved: str = ""  # places as one text (faults/places.py); "": nobody was asked yet
    role: str = ""  # what it was then, as the record tells it
    roles: Mapping[str, Roles] = field(default_factory=dict)

    @property
    def target_role(self) -> str:
        return self.role_by(self.roles)

    def role_by(self, roles: Mapping[str, Roles]) -> str:
        """What it is to queues by the roles of some moment."""
        if self.role in _OWN_ROLES:
            return self.role
        return role_of_places(split(self.resolved), roles, self.servers)

    @property
    def takes_a_copy(self) -> bool:
        """Whether it held a queue that has mirrors."""
        return any(
            one.mirrors and self.resolved in (one.master, *one.mirrors)
            for one in self.roles.values()
        )

    def synchronised_by(self, roles: Mapping[str, Roles]) -> bool | None:
        """Whether it is a mirror that holds everything, of every queue that it mirrors; None where
        it mirrors none, or where nobody tells."""
        own = [one for one in roles.values() if self.resolved in one.mirrors]
        if not own or any(one.synchronised is None for one in own):
            return None
        return all(self.resolved in (one.synchronised or ()) for one in own)

    def promoted_by(self, roles: Mapping[str, Roles]) -> int | None:
        """The rank of the mirror that took its place as a master; None where none is seen to."""
        ranks = (
            promoted_rank(before, roles[queue])
            for queue, before in self.roles.items()
            if before.master == self.resolved
        )
        return next((rank for rank in ranks if rank is not None), None)
