"""A node's group as the node sees it: links to its members, their tables, and those that are up.

1. A member is lost with its link, or when it says that it does not run any more. It comes back on
   a new boot only.
2. A member is up, for this node's processes, while this node runs itself: from its admission on,
   so before any command of its own is carried out.
3. A member here without a link to it was lost before it came: it is lost at once.
4. Effects are gathered in `effects`, in order; the owner of the group takes them from there.
"""

from typing import Any

from reference_impl.metadata.messages import Message, Term
from reference_impl.metadata.replication import (
    Expel,
    Joined,
    Outcome,
    Replication,
    SendToNode,
    Welcome,
)
from reference_impl.metadata.requests import Settle
from reference_impl.metadata.tables import Tables
from reference_impl.node.gossip import Doubt, Gossip
from reference_impl.node.happenings import Drop, Effect, Gone, Log, SendGossip, Up
from reference_impl.node.membership import Peers
from reference_impl.pid import Pid


class Group:
    def __init__(self, node: str, boot: int, peers: Peers) -> None:
        self.peers = peers
        self.up: dict[str, int] = {}  # beside this node; empty while it does not run
        self.lost_links: list[str] = []  # since the owner looked last
        self.is_welcome = False  # every member knows this node
        self.effects: list[Effect] = []
        self._node, self._boot = node, boot
        self._runs = False
        self.leave(Term(0, ""))

    @property
    def members(self) -> dict[str, int]:
        """Name -> boot, this node included; empty while it is in no group."""
        return self.replication.ledger.members

    def leave(self, term: Term) -> None:
        """Leave the group, without any message."""
        self.replication = Replication(self._node, self._boot, term)
        self.up.clear()
        self.is_welcome, self._runs = False, False

    def found(self, tables: Tables) -> None:
        self.replication.found(self._boot, tables)
        self.is_welcome = True

    def run(self) -> None:
        """The node's processes may be there from now on."""
        self._runs = True
        for node, boot in sorted(self.members.items()):
            self._rise(node, boot)

    def submit(self, pid: Pid, request: int, command: Any) -> None:
        self._carry(self.replication.submit(pid, request, command))

    def order(self, command: Any) -> None:
        """Only while this node leads."""
        self._carry(self.replication.order(command))

    def admit(self, node: str, linked: tuple[str, ...]) -> bool:
        """Admit a newcomer, if it can be: only the leader may, and the newcomer must hear every
        member. Return whether it did."""
        others = self.members.keys() - {self._node, node}
        can_be = self._runs and self.replication.leads and others <= set(linked)
        if can_be:
            self._carry(self.replication.admit(node, self.peers.linked[node]))
        return can_be

    def hear(self, node: str, message: Message) -> None:
        was_in_none = not self.members
        self._carry(self.replication.hear(node, message))
        if was_in_none and self.members:
            self._lose_unlinked()

    def lose(self, node: str, doubted: bool = True) -> None:
        """The link to a peer is gone. `doubted`: others are asked whether they still hear it."""
        boot = self.peers.linked[node]
        self.peers.unlink(node)
        self.lost_links.append(node)
        if node in self.members:
            if doubted:
                self.send_to_members(node, Doubt(node, boot))
            self.lose_member(node)

    def drop(self, node: str, why: str, doubted: bool) -> None:
        self.effects += [Log(f"{node} is dropped: {why}"), Drop(node)]
        self.lose(node, doubted)

    def lose_member(self, node: str) -> None:
        """A member does not run any more; its link may stay."""
        if self.up.pop(node, None) is not None:
            self.effects += [Log(f"{node} is lost"), Gone(node)]
        self._carry(self.replication.lose(node))

    def send_to_members(self, beside: str, gossip: Gossip) -> None:
        self.effects += [SendGossip(node, gossip) for node in sorted(self.up) if node != beside]

    def _carry(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            match outcome:
                case SendToNode(node, message):
                    if node in self.peers.linked:
                        self.effects.append(SendGossip(node, message))
                case Settle():
                    self.effects.append(outcome)
                case Joined(node, boot):
                    self._lose_unlinked()
                    if self._runs:
                        self._rise(node, boot)
                case Expel(node):
                    self.drop(node, "it cannot follow", doubted=True)
                case Welcome():
                    self.is_welcome = True

    def _rise(self, node: str, boot: int) -> None:
        if self.peers.linked.get(node) == boot and node not in self.up:
            self.up[node] = boot
            self.effects += [Log(f"{node} is up"), Up(node, boot)]

    def _lose_unlinked(self) -> None:
        for node, boot in sorted(self.members.items()):
            is_here = node == self._node or self.peers.linked.get(node) == boot
            if not is_here and node in self.members:  # one loss may bring about another
                self.send_to_members(node, Doubt(node, boot))
                self.lose_member(node)
