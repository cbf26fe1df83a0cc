"""Partial partitions: two members have lost each other, and another still hears both.

1. A node that loses a member queries the others (Doubt); those with a link probe it (Probe);
   when it answers (Alive), the partition is partial.
2. It is made a full one: the one that hears both drops the larger name of the two, so that all
   that hear both do the same. The dropped one gets a notice, and doubts no other.
3. Under pause_minority none is dropped: each of the two gets StillSeen and pauses until
   every node can be reached (docs/behaviour/rabbitmq.md 3.8).
"""

from reference_impl.node.gossip import Alive, Dismissed, Doubt, Probe, StillSeen
from reference_impl.node.group import Group
from reference_impl.node.happenings import SendGossip

Doubts = Doubt | Probe | Alive


class PartialPartitions:
    def __init__(self, group: Group, pauses: bool) -> None:
        self._group = group
        self._pauses = pauses

    def hear(self, node: str, gossip: Doubts) -> None:
        up, effects = self._group.up, self._group.effects
        match gossip:
            case Doubt(doubted, boot):
                if up.get(doubted) == boot and node in up:
                    effects.append(SendGossip(doubted, Probe(node, up[node])))
            case Probe(doubter, boot):
                effects.append(SendGossip(node, Alive(doubter, boot)))
            case Alive(doubter, boot):
                if up.get(doubter) == boot and node in up:
                    self._decide(doubter, node)

    def _decide(self, doubter: str, doubted: str) -> None:
        if self._pauses:
            self._group.effects.append(SendGossip(doubter, StillSeen(doubted)))
            return
        dropped = max(doubter, doubted)
        self._group.effects.append(SendGossip(dropped, Dismissed()))
        why = f"{doubter} and {doubted} have lost each other"
        self._group.drop(dropped, why, doubted=False)
