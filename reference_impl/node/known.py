"""The members of the cluster as a node knows them, and the links that it keeps
(docs/behaviour/rabbitmq.md items 53, 54).

1. Its tables have them. A blank node knows those that it was configured with, or the one that it
   is to join, and the members of any group that it hears.
2. Two blank nodes must know the same names. Otherwise one that is blank may join any node with
   tables, whatever that one has forgotten.
3. A forgotten node has no link to those that forgot it, and does not boot beside them. One that
   comes on an empty disk is another one: its links stay, while it waits for its admission.
4. Of two that have tables one must know the other: the other's may be of a time before it came.
5. The leader of that moment forgets a node that leaves for good.
"""

from collections.abc import Iterable

from reference_impl.metadata.ledger import NOTHING
from reference_impl.metadata.nodes import ForgetNode
from reference_impl.metadata.tables import Tables
from reference_impl.node.config import Config
from reference_impl.node.gossip import BOOTING, JOINING, RUNNING, Greeting, State
from reference_impl.node.group import Group
from reference_impl.node.happenings import Drop, Log


class Known:
    """`on_disk`: the tables of before, kept up by the owner; they count while in no group."""

    def __init__(self, config: Config, group: Group, on_disk: Tables | None) -> None:
        self.on_disk = on_disk
        self._me, self._group = config.name, group
        names = config.founders if on_disk is None else on_disk.nodes
        self.founders = tuple(sorted(names or {config.name, *config.peers}))
        self._refused: dict[str, int] = {}  # peer -> boot
        self._leaving: set[str] = set()
        group.peers.names = self._others()

    def greeting(self) -> Greeting:
        return greeting_of(self._tables(), self.founders)

    def follow(self, runs: bool) -> None:
        """Follow the tables, or the peers' reports: a forgotten node has no link any more."""
        if runs:
            self._forget_leavers()
        peers, tables = self._group.peers, self._tables()
        for node in () if tables is None else tables.forgotten:
            here = node in peers.names and node in peers.linked
            if here and not _comes_anew(peers.states.get(node)):
                self._group.drop(node, "it was forgotten", doubted=False)
        peers.names = self._others()

    def refuses(self, node: str, boot: int, greeting: Greeting) -> bool:
        """Return whether the link is not kept. Its peer dials again and again: the reason is
        logged once."""
        why = refusal(self._me, self.greeting(), node, greeting)
        if not why:
            return False
        if self._refused.get(node) != boot:
            self._group.effects.append(Log(why))
        self._refused[node] = boot
        self._group.effects.append(Drop(node))
        self._group.peers.failed(node)
        return True

    def leaves(self, node: str) -> None:
        self._leaving.add(node)

    def _forget_leavers(self) -> None:
        replication, members = self._group.replication, self._group.members
        self._leaving.difference_update(members)  # who came back before anybody had forgotten it
        for node in sorted(self._leaving):
            if replication.leads:
                self._group.order(ForgetNode(node, tuple(sorted(members))))
            if node not in replication.ledger.tables.nodes:
                self._leaving.discard(node)

    def _tables(self) -> Tables | None:
        """None while it has none."""
        return self._group.replication.ledger.tables if self._group.members else self.on_disk

    def _others(self) -> tuple[str, ...]:
        """The cluster's nodes beside this one, those that are down, too."""
        states = self._group.peers.states.values()
        return tuple(sorted(nodes_of(self._tables(), self.founders, states) - {self._me}))


def _comes_anew(state: State | None) -> bool:
    """On an empty disk, or a leader has admitted it. None: it is about to say how it is."""
    if state is None or state.phase == JOINING:
        return True
    return state.phase == BOOTING and state.version == NOTHING


def nodes_of(
    tables: Tables | None, founders: Iterable[str], states: Iterable[State]
) -> frozenset[str]:
    """`tables`: None for a blank node; `states`: what its peers have told."""
    if tables is not None and tables.version != NOTHING:
        return frozenset(tables.nodes or founders)
    heard = {name for state in states if state.phase == RUNNING for name in state.members}
    return frozenset(heard.union(founders))


def greeting_of(tables: Tables | None, founders: Iterable[str]) -> Greeting:
    if tables is None or tables.version == NOTHING:
        return Greeting(tuple(sorted(founders)), blank=True)
    return Greeting(tuple(sorted(tables.nodes or founders)), tables.forgotten)


def refusal(me: str, own: Greeting, node: str, theirs: Greeting) -> str:
    """Return why a link to a peer is not kept; "" if it is."""
    if own.blank and theirs.blank and own.nodes != theirs.nodes:
        return f"{node} was configured with {', '.join(theirs.nodes)}: it is not dealt with"
    if own.blank or theirs.blank:
        return ""
    if node in own.forgotten:
        return f"{node} was forgotten: it is not dealt with until it has been reset"
    if me in theirs.forgotten:
        return disagreement(me, node)
    if node not in own.nodes and me not in theirs.nodes:
        return f"{node} is of another cluster ({', '.join(theirs.nodes)}): it is not dealt with"
    return ""


def disagreement(me: str, node: str) -> str:
    """In RabbitMQ's words."""
    return f"Node {me} thinks it's clustered with node {node}, but {node} disagrees"
