"""pause_minority: whether a node that has lost peers is in a minority (rabbitmq.md 3.8).

1. Every peer without a link is asked first whether it lives, as RabbitMQ's node monitor does: it
   decides by who can be reached when it looks, not by whose link was lost. That is why a node
   that was frozen, and finds all its links closed when it goes on, does not pause: the known hole.
2. A peer that was just lost never counts as alive for its own sake, only for the others': so of
   two nodes each pauses whenever the other is lost.
3. Half of the configured nodes is a minority.
"""

IGNORE, PAUSE_MINORITY = "ignore", "pause_minority"  # how a node handles partitions


class Minority:
    def __init__(self, total: int) -> None:
        self._total = total
        self.suspects: list[str] = []  # lost, and not judged yet
        self._asked: set[str] = set()
        self._alive: set[str] = set()

    def suspect(self, lost: str, unlinked: list[str]) -> list[str]:
        """Whom to ping now."""
        if lost not in self.suspects:
            self.suspects.append(lost)
        asked = [node for node in unlinked if node not in self._asked]
        self._asked.update(asked)
        return asked

    def pinged(self, node: str, answered: bool) -> bool:
        """Whether it can be judged now."""
        self._asked.discard(node)
        if answered:
            self._alive.add(node)
        else:
            self._alive.discard(node)
        return bool(self.suspects) and not self._asked

    def judge(self, linked: frozenset[str]) -> bool:
        """Whether this node is to pause. The suspects are judged by this."""
        alive = linked | self._alive
        lost, self.suspects = self.suspects, []
        self._alive.clear()
        return any(self.holds(len(alive - {node})) for node in lost)

    def holds(self, others: int) -> bool:
        """Whether this node and so many others are a minority."""
        return 2 * (1 + others) <= self._total
