"""Nodes that run short of memory or disk, as one node sees them (docs/behaviour/rabbitmq.md 2.1).

1. A node sends its own to every peer that it has a link to; what a lost peer had sent is
   forgotten.
2. An alarm anywhere blocks publishers everywhere: which of them is their connections' affair.
3. A limit may be set for a while, as an operator does it; it does not outlive the boot.
"""

from collections.abc import Mapping

MEMORY, DISK = "memory", "disk"
RESOURCES = (MEMORY, DISK)

Alarmed = Mapping[str, frozenset[str]]  # by node: what it runs short of


class Alarms:
    """`limits`: octets at most (memory) and at least (disk); 0: there is no alarm."""

    def __init__(self, node: str, memory: int, disk: int) -> None:
        self._node = node
        self._configured = {MEMORY: memory, DISK: disk}
        self._set: dict[str, int] = {}  # for a while
        self._found: dict[str, frozenset[str]] = {}

    @property
    def found(self) -> Alarmed:
        return self._found

    @property
    def own(self) -> frozenset[str]:
        return self._found.get(self._node, frozenset())

    def limit(self, resource: str, octets: int | None) -> None:
        """From the next measurement on. None: as configured."""
        if octets is None:
            self._set.pop(resource, None)
        else:
            self._set[resource] = octets

    def limit_of(self, resource: str) -> int:
        """Octets, as it is now; 0: there is none."""
        return self._set.get(resource, self._configured[resource])

    def measured(self, memory: int, disk: int) -> bool:
        """Octets in use, and free ones. Whether this node's own alarms are others now."""
        short = {
            MEMORY: 0 < self.limit_of(MEMORY) < memory,
            DISK: disk < self.limit_of(DISK),
        }
        return self.update(self._node, frozenset(name for name in RESOURCES if short[name]))

    def update(self, node: str, resources: frozenset[str]) -> bool:
        """Note a node's own report. Return whether it is news."""
        if resources == self._found.get(node, frozenset()):
            return False
        # A new mapping: holders of the old one keep the old state.
        others = {name: known for name, known in self._found.items() if name != node}
        self._found = {**others, node: resources} if resources else others
        return True

    def forget(self, node: str) -> bool:
        return self.update(node, frozenset())
