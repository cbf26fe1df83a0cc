"""Commands on the records of queues and their groups (docs/behaviour/rabbitmq.md 3.1, 3.6, items
32, 43 to 54).

1. A command is a value with `apply(tables)`: no clock, no chance, so that every node gets the same
   tables and the same result. What only its sender can know (who runs, what is dead) is in it.
2. Every queue has a group, if only of its master: mirroring needs no other change than members.
3. The next master is the oldest mirror that is not known to be dead, synchronised or not; only
   that one writes its own name. Others merely take the dead away.
4. `synchronised` is in the order of becoming so, the latest first. `recoverable` are nodes whose
   copy could be promoted if all stopped: running ones with a mirror, and stopped ones that had one
   when they were last seen (so a mirror that stopped while its node ran is not among them).
5. A group's version grows with every change of members; a dead one stays, as an alias of the next
   living one, until what it had broadcast is known everywhere.

promotion, asked for by one member:
    the record is gone, or does not list it          GONE      it ends
    the master lives                                 KEPT      the dead are taken away
    another is the oldest alive                      WAITING   the dead are taken away; no master
    it is the oldest, and policy forbids             REFUSED   it ends; its home has the queue
    it is the oldest                                 PROMOTED  it is master
"""

from collections.abc import Iterable

import msgspec

from reference_impl.metadata.exchanges import forget_queue_bindings
from reference_impl.metadata.governing import may_promote
from reference_impl.metadata.tables import Group, Member, Queue, Tables
from reference_impl.pid import Pid

GONE, KEPT, WAITING, REFUSED, PROMOTED = "gone", "kept", "waiting", "refused", "promoted"


class AddQueue(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The result: whether there was none of that name."""

    queue: Queue

    def apply(self, tables: Tables) -> bool:
        queue = self.queue
        assert queue.master is not None, queue
        if queue.name in tables.queues:
            return False
        tables.queues[queue.name] = queue
        tables.groups[queue.name] = _alone(queue.name, 0, queue.master)
        return True


class ForgetQueue(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """With its group and bindings, if its master still is that one. The result: whether it was."""

    name: str
    master: Pid | None

    def apply(self, tables: Tables) -> bool:
        queue = tables.queues.get(self.name)
        if queue is None or queue.master != self.master:
            return False
        remove_queue(tables, self.name)
        return True


class RestartMaster(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A queue's home has it again, from its disk; whatever mirrors there were are none any more.
    The result: whether it is so; not while a mirror lives that may take over."""

    name: str
    master: Pid
    gone: tuple[Pid, ...]
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> bool:
        queue = tables.queues.get(self.name)
        if queue is None or queue.home != self.master.node:
            return False
        if queue.master is not None and queue.master not in self.gone:
            return False
        if may_take_over(tables, queue) and _without(queue.mirrors, self.gone):
            return False
        _restart(tables, queue, self.master, self.running)
        return True


class LoseMaster(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A queue was lost with its node, and no mirror lives: a durable one waits for its home, any
    other is forgotten."""

    name: str
    gone: tuple[Pid, ...]
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> None:
        queue = tables.queues.get(self.name)
        if queue is None or _without(replicas(queue), self.gone):
            return
        if queue.durable:
            tables.queues[self.name] = _with_mirrors(queue, (), self.running, master=None)
        else:
            remove_queue(tables, self.name)


class StopMirrors(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The master stops gracefully and lets no mirror take over (item 43)."""

    name: str
    master: Pid
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> None:
        queue = tables.queues.get(self.name)
        if queue is None or queue.master != self.master:
            return
        tables.queues[self.name] = _with_mirrors(queue, (), self.running, master=None)
        version = tables.groups[self.name].version + 1
        tables.groups[self.name] = _alone(self.name, version, self.master)


class AddMirror(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """At the end of the mirrors, which are in the order of their age. The result: whether it is
    listed. One that its node had before is replaced."""

    name: str
    mirror: Pid
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> bool:
        queue, group = tables.queues.get(self.name), tables.groups.get(self.name)
        if queue is None or queue.master is None or queue.master.node == self.mirror.node:
            return False
        if group is None or self.mirror not in living(group):
            return False
        others = tuple(pid for pid in queue.mirrors if pid.node != self.mirror.node)
        mirrors = (*others, self.mirror)
        tables.queues[self.name] = _with_mirrors(queue, mirrors, self.running)
        return True


class RemoveMirror(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """By the node of a mirror that ended: there may be no member left to notice it."""

    name: str
    mirror: Pid
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> None:
        queue = tables.queues.get(self.name)
        if queue is not None and self.mirror in queue.mirrors:
            mirrors = _without(queue.mirrors, (self.mirror,))
            tables.queues[self.name] = _with_mirrors(queue, mirrors, self.running)


class RecordDeaths(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Deaths, reported by each member that learned of them. The result is in the table at the
    module's head."""

    name: str
    member: Pid
    dead: tuple[Pid, ...]
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> str:
        queue = tables.queues.get(self.name)
        if queue is None or self.member not in replicas(queue):
            return GONE
        mirrors = _without(queue.mirrors, self.dead)
        if queue.master is not None and queue.master not in self.dead:
            self._write(tables, queue, mirrors, queue.master)
            return KEPT
        if mirrors[0] != self.member:
            self._write(tables, queue, mirrors, None)
            return WAITING
        if not may_take_over(tables, queue):
            self._write(tables, queue, mirrors, None)
            refused = msgspec.structs.replace(tables.queues[self.name], waits_for_home=True)
            tables.queues[self.name] = refused
            return REFUSED
        self._write(tables, queue, mirrors[1:], self.member)
        return PROMOTED

    def _write(
        self, tables: Tables, queue: Queue, mirrors: tuple[Pid, ...], master: Pid | None
    ) -> None:
        if (mirrors, master) != (queue.mirrors, queue.master):
            changed = _with_mirrors(queue, mirrors, self.running, master=master)
            tables.queues[self.name] = changed


class MarkSynchronised(msgspec.Struct, frozen=True, array_like=True, tag=True):
    name: str
    mirror: Pid

    def apply(self, tables: Tables) -> None:
        queue = tables.queues.get(self.name)
        if queue is None or self.mirror not in queue.mirrors:
            return
        if self.mirror not in queue.synchronised:
            synchronised = (self.mirror, *queue.synchronised)
            tables.queues[self.name] = msgspec.structs.replace(queue, synchronised=synchronised)


class JoinGroup(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To the right of a living member, which `chance` picks. The result: whether it is a member; a
    group without a living one is not joined, for its queue has no master to copy."""

    name: str
    member: Pid
    chance: int

    def apply(self, tables: Tables) -> bool:
        group = tables.groups.get(self.name)
        if group is None or not living(group):
            return False
        left = living(group)[self.chance % len(living(group))]
        members = list(group.members)
        members.insert(members.index(Member(left, True)) + 1, Member(self.member, True))
        _write_group(tables, group, members)
        return True


class MarkDead(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """By a living member, of its neighbour."""

    name: str
    member: Pid
    dead: Pid

    def apply(self, tables: Tables) -> None:
        group = tables.groups.get(self.name)
        if group is None or self.member not in living(group) or self.dead not in living(group):
            return
        members = [
            Member(member.pid, member.alive and member.pid != self.dead)
            for member in group.members
        ]
        _write_group(tables, group, members)


class EraseMembers(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """By the living member whose aliases they are: all that they had broadcast is known."""

    name: str
    member: Pid
    dead: tuple[Pid, ...]

    def apply(self, tables: Tables) -> None:
        group = tables.groups.get(self.name)
        if group is None or self.member not in living(group):
            return
        left = [it for it in group.members if it.alive or it.pid not in self.dead]
        if len(left) < len(group.members):
            _write_group(tables, group, left)


RecordCommand = (
    AddQueue
    | ForgetQueue
    | RestartMaster
    | LoseMaster
    | StopMirrors
    | AddMirror
    | RemoveMirror
    | RecordDeaths
    | MarkSynchronised
    | JoinGroup
    | MarkDead
    | EraseMembers
)


def replicas(queue: Queue) -> tuple[Pid, ...]:
    """The master, if there is one, and the mirrors by age."""
    return queue.mirrors if queue.master is None else (queue.master, *queue.mirrors)


def may_take_over(tables: Tables, queue: Queue) -> bool:
    """Return whether the queue is left to its mirrors. A mirror that has refused once stays with
    that, whatever becomes of the policy."""
    return not queue.waits_for_home and may_promote(tables, queue)


def leave_to_homes(tables: Tables) -> None:
    """Part of the start of a whole cluster: until its home has it again, a queue is not there, be
    it mirrored (item 1)."""
    for name, queue in tables.queues.items():
        tables.queues[name] = msgspec.structs.replace(queue, is_absent=True)


def living(group: Group) -> list[Pid]:
    return [member.pid for member in group.members if member.alive]


def remove_queue(tables: Tables, name: str) -> None:
    """With its group and bindings."""
    del tables.queues[name]
    tables.groups.pop(name, None)
    forget_queue_bindings(tables, name)


def _restart(tables: Tables, queue: Queue, master: Pid, running: tuple[str, ...]) -> None:
    group = tables.groups.get(queue.name)
    version = 0 if group is None else group.version + 1
    tables.groups[queue.name] = _alone(queue.name, version, master)
    restarted = _with_mirrors(queue, (), running, master=master)
    tables.queues[queue.name] = msgspec.structs.replace(
        restarted, waits_for_home=False, is_absent=False
    )


def _with_mirrors(
    queue: Queue,
    mirrors: tuple[Pid, ...],
    running: tuple[str, ...],
    *,
    master: Pid | msgspec.UnsetType | None = msgspec.UNSET,
) -> Queue:
    lists = msgspec.structs.replace(
        queue,
        mirrors=mirrors,
        synchronised=tuple(pid for pid in queue.synchronised if pid in mirrors),
        recoverable=_recoverable(queue.recoverable, mirrors, running),
    )
    if isinstance(master, msgspec.UnsetType):
        return lists
    home = queue.home if master is None else master.node
    return msgspec.structs.replace(lists, master=master, home=home)


def _recoverable(
    before: tuple[str, ...], mirrors: tuple[Pid, ...], running: tuple[str, ...]
) -> tuple[str, ...]:
    now = [pid.node for pid in mirrors]
    stopped = [node for node in before if node in now or node not in running]
    return (*stopped, *(node for node in now if node not in stopped))


def _without(pids: Iterable[Pid], gone: tuple[Pid, ...]) -> tuple[Pid, ...]:
    return tuple(pid for pid in pids if pid not in gone)


def _alone(name: str, version: int, member: Pid) -> Group:
    return Group(name, version, (Member(member, True),))


def _write_group(tables: Tables, group: Group, members: list[Member]) -> None:
    tables.groups[group.name] = Group(group.name, group.version + 1, tuple(members))
