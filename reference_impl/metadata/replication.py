"""Tables that every member of a group holds alike: one leader orders commands, all carry them out.

1. A group is the nodes that are connected and share one history; there is no quorum. A member
   that was lost once is a member again only on a new boot, by `admit`.
2. The leader gives each command the next version and sends it to every member; each carries it
   out, keeps it in its recent log, and says so. What every member that is still there has carried
   out is stable; the requester gets its result then, and no member needs it in the log any more.
3. When the leader is lost, the member with the smallest name takes over under a higher term. It
   hears the recent logs of all members first, carries out what it missed, sends each what that
   one missed, and only then leads. A member that has answered it hears no older leader any more.
4. Messages from one node to another arrive in their order, or the node is lost.
5. When a new leader leads, a requester submits again what it has not seen carried out. Nothing is
   carried out twice: what any member had of the old leader's has been sent to the requester before
   (3), and what the requester had submitted earlier came before its answer to the new one (4).
6. A newcomer gets the tables whole, and is welcome when every member has it among its members.

the leader of a term:  taking over --all members' logs heard--> leading --a higher term--> follows
every other:           follows
"""

from dataclasses import dataclass
from typing import Any

from reference_impl.metadata.ledger import NOTHING, Ledger
from reference_impl.metadata.messages import (
    Admit,
    Applied,
    Commit,
    Entry,
    Id,
    Lead,
    Message,
    Need,
    Settled,
    Snapshot,
    Submit,
    Take,
    Term,
    Took,
)
from reference_impl.metadata.requests import Requests, Settle
from reference_impl.metadata.tables import Tables
from reference_impl.pid import Pid


@dataclass(frozen=True, slots=True)
class SendToNode:
    node: str
    message: Message


@dataclass(frozen=True, slots=True)
class Joined:
    """A newcomer is a member now."""

    node: str
    boot: int


@dataclass(frozen=True, slots=True)
class Expel:
    """A member has another history, or one too old: it is to be lost."""

    node: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """This newcomer is a member in every member's eyes."""


Outcome = SendToNode | Settle | Joined | Expel | Welcome


class Replication:
    """One node's part. What acts returns what follows from it, in order."""

    def __init__(self, node: str, boot: int, term: Term) -> None:
        self.term = term
        self.ledger = Ledger()
        self._node = node
        self._requests = Requests(node, boot)
        self._is_led = False  # the term's leader leads: it may be submitted to
        self._reached: dict[str, int] = {}  # as leader: how far every other member is
        self._took: dict[str, int] | None = None  # taking over: who has answered, and how far
        self._newcomers: dict[str, int] = {}  # as leader: from which version each is welcome
        self._welcome_at: int | None = None  # as newcomer: the version that is to be stable
        self._outcomes: list[Outcome] = []

    @property
    def leader(self) -> str | None:
        """Return the leader; None while there is none, as far as this node knows."""
        return self.term.leader if self._is_led else None

    @property
    def leads(self) -> bool:
        return self.leader == self._node

    @property
    def has_settled(self) -> bool:
        """Return whether no process waits for a command's result."""
        return not self._requests

    def found(self, boot: int, tables: Tables) -> None:
        """A group of one."""
        self.ledger.found(self._node, boot, tables)
        self.term, self._is_led = Term(self.term.number + 1, self._node), True

    def submit(self, pid: Pid, request: int, command: Any) -> list[Outcome]:
        id_ = self._requests.add(pid, request, command)
        if self._is_led:
            self._send(id_, command)
        return self._taken()

    def admit(self, node: str, boot: int) -> list[Outcome]:
        """Admit a node. Only the leader may; repeated for one that has to begin again."""
        assert self.leads, self.term
        self._order(Id(node, boot, 0), Admit(node, boot))
        return self._taken()

    def order(self, command: Any) -> list[Outcome]:
        """Order a command. Only the leader may; no process waits for the result."""
        assert self.leads, self.term
        self._order(Id(self._node, 0, 0), command)
        return self._taken()

    def lose(self, node: str) -> list[Outcome]:
        """A member is gone for good, as far as this boot of it goes."""
        self.ledger.lose(node)
        self._reached.pop(node, None)
        if self._took is not None:
            self._lead_if_all_answered()
        elif self.leads:
            self._advance()
        elif self.term.leader not in self.ledger.members:
            self._is_led = False
            self._replace_leader()
        return self._taken()

    def hear(self, node: str, message: Message) -> list[Outcome]:
        if node in self.ledger.members:
            self._hear_member(node, message)
        elif not self.ledger.members and isinstance(message, Take):
            self._send_to(node, Took(message.term, NOTHING, ()))
        if isinstance(message, Snapshot):
            self._on_snapshot(node, message)
        return self._taken()

    def _hear_member(self, node: str, message: Message) -> None:
        match message:
            case Commit() if self._follows(node, message.term):
                self._on_commit(node, message)
            case Applied() if message.term == self.term and node in self._reached:
                self._reached[node] = max(self._reached[node], message.version)
                self._advance()
            case Submit() if self.leads:
                self._order(message.id, message.command)
            case Settled() if node == self.leader:
                self._settle(message.stable)
            case Take() if message.term > self.term:
                self._on_take(node, message.term)
            case Took() if self._took is not None and message.term == self.term:
                self._on_took(node, message, self._took)
            case Lead() if self._follows(node, message.term):
                self._is_led = True
                self._settle(message.stable)
                self._submit_again()
            case Need() if message.term >= self.term and self._is_next():
                self._take_over(message.term.number + 1)

    # --- in a term --------------------------------------------------------------------------

    def _order(self, id_: Id, command: Any) -> None:
        entry = Entry(self.ledger.version + 1, id_, command)
        self._carry_out(entry)
        newcomer = command.node if isinstance(command, Admit) else None
        for member in self._others():
            if member == newcomer:
                self._introduce(member)
            else:
                self._send_to(member, Commit(self.term, entry, self.ledger.base))
        self._advance()

    def _introduce(self, newcomer: str) -> None:
        self._reached[newcomer] = NOTHING
        self._newcomers[newcomer] = self.ledger.version
        self._send_to(newcomer, self.ledger.snapshot(self.term))

    def _on_snapshot(self, node: str, message: Snapshot) -> None:
        # In no group any term is news: that of another history may be lower than the disk's.
        is_news = not self.ledger.members or message.term >= self.term
        is_newcomer = not self.ledger.members or self._welcome_at is not None
        if is_newcomer and is_news and node == message.term.leader:
            self.term, self._is_led, self._took = message.term, True, None
            self.ledger.copy(message)
            self._welcome_at = self.ledger.version
            self._send_to(node, Applied(self.term, self.ledger.version))

    def _on_commit(self, node: str, message: Commit) -> None:
        if message.entry.version > self.ledger.version:
            self._carry_out(message.entry)
        self._send_to(node, Applied(self.term, self.ledger.version))
        self._settle(message.stable)

    def _carry_out(self, entry: Entry) -> None:
        result = self.ledger.carry_out(entry)
        if isinstance(entry.command, Admit):
            self._outcomes.append(Joined(entry.command.node, entry.command.boot))
        else:
            self._requests.carried_out(entry.id, entry.version, result)

    def _advance(self) -> None:
        """As leader: what every member has carried out by now is stable."""
        if not self.leads:
            return
        stable = min((self.ledger.version, *(self._reached[it] for it in self._others())))
        notified = {entry.id.node for entry in self.ledger.log if entry.version <= stable}
        for newcomer, version in list(self._newcomers.items()):
            if version <= stable:
                del self._newcomers[newcomer]
                notified.add(newcomer)
        for member in self._others():
            if member in notified:
                self._send_to(member, Settled(stable))
        self._settle(stable)

    def _settle(self, stable: int) -> None:
        self.ledger.forget(stable)
        self._outcomes += self._requests.settle(stable)
        if self._welcome_at is not None and self._welcome_at <= stable:
            self._welcome_at = None
            self._outcomes.append(Welcome())

    # --- a change of leader -----------------------------------------------------------------

    def _replace_leader(self) -> None:
        if self._is_next():
            self._take_over(self.term.number + 1)
        else:
            self._send_to(min(self.ledger.members), Need(self.term))

    def _is_next(self) -> bool:
        return min(self.ledger.members) == self._node

    def _take_over(self, number: int) -> None:
        self._follow(Term(number, self._node))
        self._took = {}
        for member in self._others():
            self._send_to(member, Take(self.term))
        self._lead_if_all_answered()

    def _follow(self, term: Term) -> None:
        self.term, self._is_led, self._took = term, False, None
        self._reached.clear()
        self._newcomers.clear()

    def _on_take(self, node: str, term: Term) -> None:
        self._follow(term)
        self._send_to(node, Took(term, self.ledger.version, tuple(self.ledger.log)))

    def _on_took(self, node: str, message: Took, took: dict[str, int]) -> None:
        took[node] = message.version
        others = self._others()
        for entry in message.entries:
            if entry.version == self.ledger.version + 1:
                self._carry_out(entry)
        for member in self._others():
            if member not in others:  # what was missed has brought it
                self._send_to(member, Take(self.term))
        self._lead_if_all_answered()

    def _lead_if_all_answered(self) -> None:
        took = self._took
        if took is None or any(member not in took for member in self._others()):
            return
        self._took, self._is_led = None, True
        self._reached = {member: took[member] for member in self._others()}
        for member in self._others():
            self._catch_up(member, took[member])
        stable = min((self.ledger.version, *self._reached.values()))
        for member in self._others():
            self._send_to(member, Lead(self.term, stable))
        self._submit_again()
        self._advance()

    def _catch_up(self, member: str, version: int) -> None:
        missed = self.ledger.after(version)
        if version == NOTHING:
            self._introduce(member)
        elif missed is None or version > self.ledger.version:
            self._outcomes.append(Expel(member))
        else:
            for entry in missed:
                self._send_to(member, Commit(self.term, entry, NOTHING))

    def _submit_again(self) -> None:
        for id_, command in self._requests.open():
            self._send(id_, command)

    # --- small ------------------------------------------------------------------------------

    def _send(self, id_: Id, command: Any) -> None:
        if self.leads:
            self._order(id_, command)
        else:
            self._send_to(self.term.leader, Submit(id_, command))

    def _follows(self, node: str, term: Term) -> bool:
        return term == self.term and node == term.leader

    def _others(self) -> list[str]:
        return sorted(self.ledger.members.keys() - {self._node})

    def _send_to(self, node: str, message: Message) -> None:
        self._outcomes.append(SendToNode(node, message))

    def _taken(self) -> list[Outcome]:
        outcomes, self._outcomes = self._outcomes, []
        return outcomes
