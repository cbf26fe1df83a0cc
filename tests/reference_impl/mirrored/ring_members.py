"""Members of a ring that do nothing but hear: they note what is handed up."""

from dataclasses import dataclass
from typing import Any

import msgspec

from reference_impl.metadata.tables import Group, Member, Tables
from reference_impl.mirrored.gm import Arrived, Died, Ring, Step
from reference_impl.mirrored.messages import (
    Activity,
    AskState,
    Catchup,
    Discarded,
    Regroup,
)
from reference_impl.pid import Pid
from reference_impl.process import (
    CRASH,
    SHUTDOWN,
    Arm,
    Committed,
    Down,
    Effect,
    Exit,
    Send,
    Timeout,
    Transact,
)
from tests.reference_impl.mirrored.simulated_node import SimulatedNode
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster

NAME = "ring"


@dataclass(frozen=True)
class Say:
    """From outside: broadcast so many messages."""

    count: int


@dataclass(frozen=True)
class Stop:
    reason: str


class FoundGroup(msgspec.Struct, frozen=True):
    member: Pid

    def apply(self, tables: Tables) -> None:
        tables.groups[NAME] = Group(NAME, 0, (Member(self.member, True),))


class RingMember:
    """`heard`: (sender, number) in order; `dead`: who died, with what had been heard by then."""

    def __init__(self, pid: Pid, node: SimulatedNode, *, founder: bool) -> None:
        self.pid = pid
        self.ring = Ring(pid, NAME, node, founder=founder)
        self.heard: list[tuple[Pid, int]] = []
        self.dead: list[tuple[Pid, int]] = []
        self.said = 0
        self._joining = not founder
        self._armed = False

    def handle(self, event: Any) -> list[Effect]:
        match event:
            case Say(count=count):
                for _ in range(count):
                    self.said += 1
                    self.ring.broadcast(Discarded(self.pid, self.said.to_bytes(4, "big")))
                return self._flush_later([])
            case Stop(reason=reason):
                return [*self.ring.flush(), Exit(reason)]
            case Regroup() if self._joining:
                self._joining = False
                return [Transact(1, self.ring.join())]
            case Regroup() | Committed():
                return self._take(self.ring.regroup())
            case Activity() | Catchup() | AskState():
                return self._take(self.ring.receive(event))
            case Down(pid=pid, reason=reason):
                return self.ring.down(pid, reason)
            case Timeout(name="flush"):
                self._armed = False
                return self.ring.flush()
            case Timeout(name=name):
                return self.ring.expired(name)
        raise AssertionError(event)

    def _take(self, step: Step) -> list[Effect]:
        for one in step.happened:
            match one:
                case Arrived(sender=sender, body=Discarded(identity=identity)):
                    self.heard.append((sender, int.from_bytes(identity, "big")))
                case Died(members=members):
                    self.dead += [(member, len(self.heard)) for member in members]
        effects = list(step.effects)
        if step.lost and self.ring.has_state:
            return [*effects, Exit(SHUTDOWN)]
        return self._flush_later(effects)

    def _flush_later(self, effects: list[Effect]) -> list[Effect]:
        if self.ring.unsent() is not None and not self._armed:
            self._armed = True
            effects.append(Arm("flush", 0))
        return effects

    def heard_of(self, sender: Pid) -> list[int]:
        return [number for heard, number in self.heard if heard == sender]


class Rings:
    """A cluster with one member a node, without supervisors."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self.cluster = cluster
        self.members: dict[Pid, RingMember] = {}
        self.gone: dict[Pid, RingMember] = {}
        for name in list(cluster.nodes):
            self._quieten(name)

    def found(self, name: str) -> RingMember:
        member = self._add(name, founder=True)
        self.cluster.command(FoundGroup(member.pid))
        return member

    def join(self, name: str) -> RingMember:
        member = self._add(name, founder=False)
        self.cluster.send(member.pid, Regroup())
        return member

    def start(self, name: str) -> None:
        self.cluster.start(name)
        self._quieten(name)

    def kill(self, name: str) -> None:
        self.cluster.kill(name)
        for pid in [it for it in self.members if it.node == name]:
            self.gone[pid] = self.members.pop(pid)

    def crash(self, member: RingMember) -> None:
        """The process alone."""
        node = self.cluster.nodes[member.pid.node]
        node.end(member.pid, CRASH)
        self.gone[member.pid] = self.members.pop(member.pid)

    def say(self, member: RingMember, count: int) -> None:
        self.cluster.send(member.pid, Say(count))

    def _add(self, name: str, *, founder: bool) -> RingMember:
        pid = self.cluster.spawn(name, lambda pid, node: RingMember(pid, node, founder=founder))
        member = self.cluster.nodes[name].processes[pid]
        assert isinstance(member, RingMember)
        self.members[pid] = member
        return member

    def _quieten(self, name: str) -> None:
        node = self.cluster.nodes[name]
        node.processes[node.supervisor] = _Regrouper(node)


class _Regrouper:
    """Of a supervisor, only what tells members of changes."""

    def __init__(self, node: SimulatedNode) -> None:
        self._node = node
        self._seen: Group | None = None

    def handle(self, event: Any) -> list[Effect]:
        group = self._node.tables.groups.get(NAME)
        if group is self._seen or group is None:
            return []
        self._seen = group
        known = {member.pid for member in group.members}
        return [Send(pid, Regroup()) for pid in self._node.processes if pid in known]
