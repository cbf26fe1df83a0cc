"""PURE: the role of a fault's target for the queues, at some moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from faults.core.kind import Kind
from harness.cluster.port import Roles
from harness.plan.declared import AT_LEAST, Declared
from harness.plan.layouts.layout_values import BALANCER, STANDBY
from harness.plan.layouts.servers import Servers
from harness.run.core.resolving import NAME_SERVER, promoted_rank, role_of_places

_OWN_ROLES = (BALANCER, STANDBY, NAME_SERVER)  # they never hold a queue


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """The target of one window. `roles`: by queue, the hosts that held it when it opened."""

    servers: Servers
    places: tuple[str, ...] = ()  # faults/core/places.py; (): not resolved yet
    role: str = ""  # the target's role then, as it is recorded
    roles: Mapping[str, Roles] = field(default_factory=dict)

    @property
    def target_role(self) -> str:
        return self.role_by(self.roles)

    def role_by(self, roles: Mapping[str, Roles]) -> str:
        """Return its role for queues by the roles of some moment."""
        if self.role in _OWN_ROLES:
            return self.role
        return role_of_places(self.places, roles, self.servers)

    @property
    def host(self) -> str:
        """Return the one place that it means; "" if there are several, or none yet."""
        return self.places[0] if len(self.places) == 1 else ""

    @property
    def takes_a_copy(self) -> bool:
        """Return whether it held a queue that has mirrors."""
        return any(
            one.mirrors and self.host in (one.master, *one.mirrors) for one in self.roles.values()
        )

    def synchronised_by(self, roles: Mapping[str, Roles]) -> bool | None:
        """Return whether it is synchronised for every queue that it mirrors.

        None if it mirrors none, or if no broker reports it.
        """
        own = [one for one in roles.values() if self.host in one.mirrors]
        if not own or any(one.synchronised is None for one in own):
            return None
        return all(self.host in (one.synchronised or ()) for one in own)

    def promoted_by(self, roles: Mapping[str, Roles]) -> Declared:
        """Return the rank of the mirror that was promoted in its place; of several queues the
        largest. If none is seen yet for some queue, it is a lower bound; None if for no queue."""
        ranks = [
            promoted_rank(before, roles[queue])
            for queue, before in self.roles.items()
            if before.master == self.host and before.mirrors
        ]
        known = [rank for rank in ranks if rank is not None]
        if not known:
            return None
        return max(known) if len(known) == len(ranks) else {AT_LEAST: max(known)}


# --- Until when a fault that was seen to be gone may still change who holds a queue --------------
# 1. Peers whose connections broke knew at once, so they have long agreed when the host is back.
# 2. Peers that met silence give a host up after 1.25 T of it at the latest, even where it ended
#    just before; and hosts that had given each other up agree on one master only after they have
#    met again (docs/behaviour/rabbitmq.md 3.8, 6.1: the losers of an autoheal restart for about 6
#    s).
# 3. A second for what was on its way, as everywhere.


GIVEN_UP_TIMERS = 1.25
AGREEING_S = 10.0
ON_ITS_WAY_S = 1.0


def takeover_over_ns(
    kind: Kind, returned_ns: int, gone_ns: int, detection_timeout_s: float
) -> int:
    """When the last takeover is over that a fault may have set off; times in ns of run time."""
    if not kind.silences_peers:
        return gone_ns + _ns(ON_ITS_WAY_S)
    silent_ns = gone_ns if kind.repeats else returned_ns  # the last silence began later
    given_up_ns = silent_ns + _ns(GIVEN_UP_TIMERS * detection_timeout_s)
    return max(gone_ns, given_up_ns) + _ns(AGREEING_S + ON_ITS_WAY_S)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
