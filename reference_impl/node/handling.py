"""A node's handling of partitions: ignore, pause_minority, pause_if_all_down, autoheal
(docs/behaviour/rabbitmq.md 3.8).

1. A reason to pause is a text; "" is no reason. The same of a reason to begin a new boot.
2. A node that paused for a partial partition begins a new boot when every node can be reached; one
   that gave way, when none that did runs any more; any other, when it would not pause again.
3. pause_if_all_down is, for those that go on, what it says under `recover`.
4. Nodes are counted as the cluster has them now, without forgotten ones.
"""

from collections.abc import Callable

from reference_impl.node.autoheal import Autoheal, sides
from reference_impl.node.config import AUTOHEAL, PAUSE_IF_ALL_DOWN, PAUSE_MINORITY, Config
from reference_impl.node.gossip import RUNNING, Clients, GiveWay
from reference_impl.node.group import Group
from reference_impl.node.happenings import Log, Ping, SendGossip
from reference_impl.node.membership import Peers
from reference_impl.node.minority import Minority, majority, one_of
from reference_impl.process import Arm

JUDGE = "judge"  # the timer: judged in a turn of its own


class PartitionHandling:
    def __init__(self, config: Config, group: Group, peers: Peers) -> None:
        self._me, self._group, self._peers = config.name, group, peers
        wanted = config.partition_handling
        self._minority: Minority | None = None
        if wanted == PAUSE_MINORITY:
            self._minority = Minority(lambda it: majority(1 + len(peers.names))(it))
        elif wanted == PAUSE_IF_ALL_DOWN:
            self._minority = Minority(one_of(config.preferred, self._me))
            wanted = config.recover
        self.pauses_until_all = wanted == PAUSE_MINORITY
        self._autoheal = Autoheal(self._me) if wanted == AUTOHEAL else None
        self._awaits_all = False
        self._partitions: list[str] = []

    @property
    def partitions(self) -> tuple[str, ...]:
        """The nodes that went on without this one."""
        return tuple(self._partitions)

    def note(self, node: str) -> None:
        if node not in self._partitions:
            self._partitions = sorted([*self._partitions, node])
            text = f"partitioned from {node}: both went on without the other"
            self._group.effects.append(Log(text))

    def forget(self) -> None:
        """Forget the sides when no node of another side runs any more."""
        states = self._peers.states
        if not any(it in states and states[it].phase == RUNNING for it in self._partitions):
            self._partitions = []

    # --- who pauses

    def guards(self) -> bool:
        """Return whether confirms are to be withheld: too few nodes have a link now."""
        return self._minority is not None and self._minority.holds(self._peers.members_linked())

    @property
    def suspects(self) -> set[str]:
        return set(self._minority.suspects) if self._minority is not None else set()

    def linked(self, node: str) -> None:
        if self._minority is not None:
            self._minority.linked(node)

    def silent(self, node: str) -> None:
        if self._minority is not None:
            self._minority.silent(node)

    def lost(self, node: str) -> None:
        if self._minority is None or node not in self._peers.names:
            return
        unlinked = [it for it in self._peers.names if it not in self._peers.linked]
        self._group.effects += [Ping(it) for it in self._minority.suspect(node, unlinked)]
        if self._minority.can_judge:
            self._group.effects.append(Arm(JUDGE, 0))

    def pinged(self, node: str, answered: bool) -> None:
        if self._minority is not None:
            self._minority.pinged(node, answered)

    @property
    def can_judge(self) -> bool:
        return self._minority is not None and self._minority.can_judge

    def judge(self) -> str:
        assert self._minority is not None
        pauses = self._minority.judge(self._peers.members_linked())
        return "it is in a minority" if pauses else ""

    def still_seen(self, by: str, other: str) -> str:
        if not self.pauses_until_all:
            return ""
        self._awaits_all = True
        return f"{by} still sees {other}, which was lost here"

    def paused(self) -> None:
        self._partitions = []

    def recovered(self) -> str:
        """Of a node that paused."""
        linked, names = self._peers.members_linked(), self._peers.names
        if self._autoheal is not None and self._autoheal.gives_way:
            is_over = self._autoheal.may_begin_anew(linked, self._peers.states)
            return "no node that gave way runs any more" if is_over else ""
        if self._awaits_all:
            return "every node can be reached again" if len(linked) == len(names) else ""
        return "" if self.guards() else "enough nodes can be reached again"

    # --- who gives way

    def heal(self, clients: Callable[[], int]) -> str:
        """As far as it goes now (autoheal.py). `clients`: how many this node has."""
        if self._autoheal is None:
            return ""
        states, linked = self._peers.states, self._peers.members_linked()
        runs = {it for it in linked if it in states and states[it].phase == RUNNING}
        if not self._partitions or runs != set(self._peers.names):
            self._autoheal.over()
            return ""
        if self._autoheal.begins([self._me, *self._peers.names]):
            self._autoheal.hear(self._me, clients())
            self._group.effects += [SendGossip(node, Clients()) for node in sorted(linked)]
        losers = self._autoheal.losers(sides(self._me, self._group.members, states))
        if not losers:
            return ""
        self._autoheal.over()
        self._group.effects += [SendGossip(it, GiveWay(losers)) for it in losers if it != self._me]
        return self.give_way(losers)

    def hear_clients(self, node: str, count: int) -> None:
        if self._autoheal is not None:
            self._autoheal.hear(node, count)

    def give_way(self, losers: tuple[str, ...]) -> str:
        if self._autoheal is None or not self._autoheal.lose(losers):
            return ""
        return f"autoheal: {', '.join(losers)} give way"
