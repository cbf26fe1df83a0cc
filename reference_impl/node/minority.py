"""pause_minority and pause_if_all_down: the count of the peers that a node has left
(docs/behaviour/rabbitmq.md 3.8).

1. It counts the links that it has when it looks, as RabbitMQ's node monitor counts nodes(): a
   peer that has been silent for too long is not pinged, nor waited for.
2. A peer whose link was closed may be there again by then: Erlang connects again with the next
   message, while the monitor has other work to do before it comes to the `nodedown`. So these are
   pinged first. That is why a node that was frozen, and finds all its links
   closed when it goes on, does not pause: the known hole. (In RabbitMQ it is a race. Of 35 frozen
   nodes of 3.10.8 under T = 10, 24 went on without a pause.)
3. A peer that was just lost never counts as alive for its own sake, only for the others': so of
   two nodes each pauses whenever the other is lost.
4. Half of the cluster's nodes is a minority. Under pause_if_all_down one of those that are
   preferred is enough, be it the node itself.
"""

from collections.abc import Callable, Iterable

Enough = Callable[[frozenset[str]], bool]  # of the others: whether the node may go on with them


def majority(total: int) -> Enough:
    return lambda others: 2 * (1 + len(others)) > total


def one_of(preferred: Iterable[str], me: str) -> Enough:
    wanted = frozenset(preferred)
    return lambda others: bool(wanted & (others | {me}))


class Minority:
    def __init__(self, enough: Enough) -> None:
        self._enough = enough
        self.suspects: list[str] = []  # lost, and not judged yet
        self._silent: set[str] = set()  # lost by silence, and without a link since
        self._awaited: set[str] = set()
        self._alive: set[str] = set()

    @property
    def can_judge(self) -> bool:
        return bool(self.suspects) and not self._awaited

    def linked(self, node: str) -> None:
        self._silent.discard(node)

    def silent(self, node: str) -> None:
        """Note that it is to be lost for its silence."""
        self._silent.add(node)

    def suspect(self, lost: str, unlinked: list[str]) -> list[str]:
        """Return the peers to ping now."""
        if lost not in self.suspects:
            self.suspects.append(lost)
        if lost in self._silent:
            return []
        to_ping = [it for it in unlinked if it not in self._awaited and it not in self._silent]
        self._awaited.update(to_ping)
        return to_ping

    def pinged(self, node: str, answered: bool) -> None:
        self._awaited.discard(node)
        if answered:
            self._alive.add(node)
        else:
            self._alive.discard(node)

    def judge(self, linked: frozenset[str]) -> bool:
        """Return whether this node is to pause. The suspects are judged by this."""
        assert self.can_judge, (self.suspects, self._awaited)
        alive = linked | self._alive
        lost, self.suspects = self.suspects, []
        self._alive.clear()
        return not all(self._enough(alive - {node}) for node in lost)

    def holds(self, others: frozenset[str]) -> bool:
        """Return whether this node and the others are too few."""
        return not self._enough(others)
