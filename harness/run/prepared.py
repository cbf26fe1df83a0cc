"""A run that may begin: its connected workers, their entries, and what claims ask about it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from faults.core.places import overlap
from harness.cluster.port import Roles
from harness.plan.declared import (
    AT_LEAST,
    NAME_SERVERS_HIT,
    NO_CLIENT_ENDPOINT,
    NO_NAME_SERVERS,
    Declared,
)
from harness.plan.layouts.layout_values import BALANCER, BY_NAME_SERVERS
from harness.run.core.window_state import WindowState
from harness.run.drain_and_audit import DrainAndAudit
from harness.run.stage import Stage
from harness.run.worker_handles import WorkerHandle
from harness.run_folder.client_events import CONSUMING, REPORT_LOST
from harness.workers.protocol import Role

NO_RESOURCE = {"not_applicable": "the fault is no alarm"}
NAME_SERVER_FACTS = ("name_servers_at_target", "name_servers_left")


@dataclass(slots=True)
class Prepared:
    """A run that may begin."""

    stage: Stage
    workers: tuple[WorkerHandle, ...]
    drain_and_audit: DrainAndAudit
    prefix: str
    entries: dict[str, str]  # "publishers", "consumers" -> the host that they entered at
    boot_id: str
    succeed: Callable[
        [WorkerHandle], Awaitable[WorkerHandle]
    ]  # starts somebody in a dead one's place

    @property
    def versions(self) -> dict[str, str]:
        """What the workers said of themselves; all run from one image."""
        versions = {
            name: version for worker in self.workers for name, version in worker.versions.items()
        }
        scheduled = sorted({worker.scheduling for worker in self.workers} - {""})
        return versions | ({"scheduling of workers": "; ".join(scheduled)} if scheduled else {})

    def state_at_fault(self, window: WindowState) -> dict[str, Any]:
        """What claims ask of the moment of the first fault; None is unknown."""
        roles = window.target.roles
        return {
            "fault_kind": window.facts.kind,
            "fault_resource": window.resource or NO_RESOURCE,
            "fault_target_role": window.target.target_role if window.places else None,
            "mirrors_at_fault": min((len(r.mirrors) for r in roles.values()), default=None),
            "synchronised_mirrors_at_fault": synchronised_at_fault(roles.values()),
            "publishers_connected_to_target": self._entered("publishers", window),
            "consumers_connected_to_target": self._entered("consumers", window),
            CONSUMING: self._consuming_from(window),
            REPORT_LOST: not self.stage.plan.client.declared.why_not("lost"),
            **self._name_servers(window.places),
        }

    def _consuming_from(self, window: WindowState) -> list[int]:
        """The consumers of the queues whose master is at the window's target."""
        roles = window.target.roles.items()
        held = {word for word, role in roles if window.places == (role.master,)}
        return [
            worker.config.number
            for worker in self.workers
            if worker.config.role is Role.CONSUMER
            and any(word in held for _, word in worker.config.queues)
        ]

    def _entered(self, who: str, window: WindowState) -> Declared:
        """None, too, where a balancer decides to whom clients come."""
        if self.entries[who] == BY_NAME_SERVERS:  # who finds masters is at no slave's
            return (
                False
                if window.places and window.target.target_role == "mirror"
                else NO_CLIENT_ENDPOINT
            )
        known = window.places and self.entries[who] != BALANCER
        return window.places == (self.entries[who],) if known else None

    def _name_servers(self, places: Sequence[str]) -> dict[str, Any]:
        """Which of them a fault strikes, and which it leaves."""
        every, names = self.stage.servers.name_servers, (NAME_SERVERS_HIT, *NAME_SERVER_FACTS)
        if not every or not places:
            return dict.fromkeys(names, None if every else NO_NAME_SERVERS)
        targeted = [each.host for each in every if any(overlap(each.place, one) for one in places)]
        return dict(zip(names, (targeted, len(targeted), len(every) - len(targeted)), strict=True))


def synchronised_at_fault(roles: Iterable[Roles]) -> Declared:
    """The least of all queues; {"at_least": n} where brokers do not tell which mirrors are."""
    found = [(one.synchronised_min, one.synchronised_known is not None) for one in roles]
    if not found:
        return None
    least = min(count for count, _ in found)
    return least if all(known for _, known in found) else {AT_LEAST: least}
