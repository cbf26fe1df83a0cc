"""Nodes that run short of memory or disk, as one node sees them (docs/behaviour/rabbitmq.md 2.1).

1. A node sends its own to every peer that it has a link to; what a lost peer had sent is
   forgotten.
2. An alarm anywhere blocks publishers everywhere: which of them is their connections' affair.
3. A limit may be set for a while, as an operator does it; it does not outlive the boot.
"""

from collections.abc import Mapping

# --- Memory --------------------------------------------------------------------------------------
# The time for which a node's memory lasts, for its queues (docs/behaviour/rabbitmq.md 1, item
# 64): RabbitMQ's memory monitor.
#
# 1. Below SHARE of what makes an alarm nothing is said: queues keep their messages.
# 2. Above it they may keep those of so many seconds of their work, the fewer the less room there
#    is up to the alarm. Below it again, they get a notice at the next look.
#
# Differs from RabbitMQ in the second: there it is what the queues' own messages last for, divided
# by how far the node is above, and it is looked at every 2.5 s. A flood of this node's clients
# fills the room up to an alarm in less.


SHARE = 0.5  # vm_memory_high_watermark_paging_ratio
EVERY_MS = 500
LONGEST_S = 0.5


class Memory:
    def __init__(self) -> None:
        self.lasts_s: float | None = None
        self._looked_ms: int | None = None

    def measured(self, octets: int, limit: int, now_ms: int) -> bool:
        """Octets in use, and those that make an alarm (0: none do). Whether queues are to be told,
        who may be new, too."""
        if self._looked_ms is not None and now_ms - self._looked_ms < EVERY_MS:
            return False
        self._looked_ms, before = now_ms, self.lasts_s
        self.lasts_s = _lasts_s(octets, limit) if limit else None
        return self.lasts_s is not None or before is not None


def _lasts_s(octets: int, limit: int) -> float | None:
    room = max(0, limit - octets) / (limit * (1 - SHARE))
    return None if room >= 1 else LONGEST_S * room


# --- Alarms --------------------------------------------------------------------------------------


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
