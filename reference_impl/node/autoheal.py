"""autoheal: the sides that give way when a partition is over (docs/behaviour/rabbitmq.md 3.8).

1. Nothing is done before every node of the cluster runs and can be heard again. Then the node with
   the lowest name asks each for the number of its clients; the side with most of them wins, of
   equals the one with more nodes, then the one with the lowest name.
2. The other sides lose: their nodes stop serving, and begin a new boot once all of them have
   stopped, so that none of them joins another loser. What only they had is gone.
3. The asking node may lose itself. Any change meanwhile restarts it.
"""

from collections.abc import Iterable, Mapping

from reference_impl.node.gossip import RUNNING, State


class Autoheal:
    def __init__(self, me: str) -> None:
        self._me = me
        self._client_counts: dict[str, int] | None = (
            None  # clients, by node; None: no query was sent
        )
        self._losers: tuple[str, ...] = ()  # where this node is one of them

    @property
    def gives_way(self) -> bool:
        return bool(self._losers)

    def over(self) -> None:
        """There is no partition, or not everybody can be heard any more."""
        self._client_counts = None

    def begins(self, everybody: Iterable[str]) -> bool:
        """All run and hear each other, and are partitioned. Whether this node is to ask them."""
        if self._me != min(everybody) or self._client_counts is not None:
            return False
        self._client_counts = {}
        return True

    def hear(self, node: str, clients: int) -> None:
        if self._client_counts is not None:
            self._client_counts[node] = clients

    def losers(self, sides: Iterable[frozenset[str]]) -> tuple[str, ...]:
        """Once everybody has told; () before that, and where there is one side."""
        counts, sides = self._client_counts, list(sides)
        everybody = {node for side in sides for node in side}
        if counts is None or not everybody <= counts.keys() or len(sides) < 2:
            return ()

        def weight(side: frozenset[str]) -> tuple[int, int]:
            return sum(counts[node] for node in side), len(side)

        winner = max(sorted(sides, key=min), key=weight)
        return tuple(sorted(everybody - winner))

    def lose(self, losers: tuple[str, ...]) -> bool:
        """This node hears who loses. Whether it is news, and it is one of them."""
        if self._losers or self._me not in losers:
            return False
        self._losers = losers
        return True

    def may_begin_anew(self, linked: Iterable[str], states: Mapping[str, State]) -> bool:
        """Return whether none of the other losers runs any more, as far as can be heard."""
        runs = {it for it in linked if it in states and states[it].phase == RUNNING}
        return not runs & {*self._losers} - {self._me}


def sides(me: str, members: Iterable[str], states: Mapping[str, State]) -> list[frozenset[str]]:
    """Return the sides: the nodes that went on with each other, as each one's leader has it."""
    found = {frozenset(members) | {me}}
    for state in states.values():
        if state.phase == RUNNING and state.members:
            found.add(frozenset(state.members))
    return sorted(found, key=min)
