"""The ring by which the copies of a queue hear the same: guaranteed multicast
(docs/behaviour/rabbitmq.md 3.1).

1. A broadcast goes to the right, from member to member, until it returns; members hand it up on
   its first round, after they have sent it on. The second round (acks) lets them forget it. The
   sender itself hears nothing of its own.
2. Who is a member stands in the group's record; each change of it grows its version. A message
   says under which version it was sent: one from a version that these tables do not have yet waits
   for them. A member that is not in the record is lost, and has to end.
3. Only the left neighbour is listened to, and only from a Catchup on: a link between neighbours
   begins with all that the left one holds, and what this member missed of it is handed up as if it
   had come by. Both ends see to it: the left one sends it when its right neighbour changes, the
   right one asks for it when its left one does; either may have missed a version of the record.
4. A newcomer takes over its left neighbour's state and hands up only what comes after. If all
   members are newcomers (all with a state died), an AskState that went full circle says so, and
   they begin again.
5. A neighbour that ended is marked dead after GUARD_MS (a partial partition would make two members
   mark each other); one that ended NORMAL is not: its queue is deleted, or it refused promotion
   and, as in RabbitMQ, left its place in the ring to a ghost.
6. A death is handed up when its alias is erased from the record: when everything that the dead one
   had broadcast has been handed up everywhere. That makes promotion safe.
7. A member that is alone sends nothing, and forgets what it held.

Differs from RabbitMQ: the node's supervisor reports changes of the record (Regroup), so that a
quiet ring needs no broadcasts to notice them (process_death, hibernate_heartbeat); the newcomer
enters the record itself, and asks for its state; a Catchup is asked for as well as sent.
"""

from dataclasses import dataclass, field
from random import Random

from reference_impl.metadata.records import EraseMembers, JoinGroup, MarkDead
from reference_impl.metadata.tables import Group
from reference_impl.mirrored.messages import Activity, AskState, Body, Catchup, Pub, SenderState
from reference_impl.mirrored.streams import Stream, states, streams_of
from reference_impl.pid import Pid
from reference_impl.process import NORMAL, Arm, Effect, Send, Transact, Unwatch, Watch, World

# --- View ----------------------------------------------------------------------------------------
# A group's record as one member sees it: neighbours and aliases (docs/behaviour/rabbitmq.md 3.1).
#
# 1. Neighbours are the nearest living members in the record's order, which is a circle.
# 2. Dead members between two living ones are aliases of the next living one: it inherits what is
#    left to do for them.


@dataclass(frozen=True, slots=True)
class View:
    version: int
    left: Pid
    right: Pid
    aliases: tuple[Pid, ...]  # of this member
    living: tuple[Pid, ...]
    known: tuple[Pid, ...]  # the dead included

    @property
    def alone(self) -> bool:
        return len(self.living) == 1


def lone_view(me: Pid) -> View:
    """Before the record is there: older than any."""
    return View(-1, me, me, (), (me,), (me,))


def view_of(group: Group, me: Pid) -> View | None:
    """None where this one is no member, or is taken for dead."""
    living = tuple(member.pid for member in group.members if member.alive)
    if me not in living:
        return None
    at = living.index(me)
    return View(
        version=group.version,
        left=living[at - 1],
        right=living[(at + 1) % len(living)],
        aliases=_aliases(group, me),
        living=living,
        known=tuple(member.pid for member in group.members),
    )


def _aliases(group: Group, me: Pid) -> tuple[Pid, ...]:
    pids = [member.pid for member in group.members]
    dead: list[Pid] = []
    at = pids.index(me) - 1
    while not group.members[at].alive:  # a negative place counts from the end: a circle
        dead.append(pids[at])
        at -= 1
    return tuple(reversed(dead))


# --- The process ---------------------------------------------------------------------------------


GUARD_MS = 100
RING_REQUEST = 0  # of every Transact here; its result is not awaited
_GUARD = "gm-guard"
_CHANCES = 1 << 30

RingMessage = Activity | Catchup | AskState


@dataclass(frozen=True, slots=True)
class Arrived:
    sender: Pid
    body: Body


@dataclass(frozen=True, slots=True)
class Died:
    """These members, and all that they had broadcast was handed up before."""

    members: tuple[Pid, ...]


@dataclass(slots=True)
class Step:
    """The result of an event: effects first, then what is handed up, in order."""

    effects: list[Effect] = field(default_factory=list)
    happened: list[Arrived | Died] = field(default_factory=list)
    lost: bool = False


class Ring:
    """One member. A founder has a state from the start, a newcomer gets its left neighbour's."""

    def __init__(self, me: Pid, name: str, world: World, *, founder: bool) -> None:
        self._me = me
        self._name = name
        self._world = world
        self._view = lone_view(me)
        self._streams: dict[Pid, Stream] | None = {} if founder else None
        self._awaited: int | None = None  # the version from which a Catchup of the left counts
        self._pushed: tuple[Pid, int] | None = None  # the receiver, and the version
        self._buffer: list[Pub] = []
        self._number = -1
        self._held: list[RingMessage] = []
        self._erasing: set[Pid] = set()
        self._guards: dict[str, Pid] = {}

    @property
    def alone(self) -> bool:
        return self._view.alone

    @property
    def has_state(self) -> bool:
        return self._streams is not None and self._view.version >= 0

    @property
    def members(self) -> tuple[Pid, ...]:
        return self._view.living

    # --- sending

    def join(self) -> JoinGroup:
        """The command that makes a newcomer a member."""
        chance = Random(repr(self._me)).randrange(_CHANCES)
        return JoinGroup(self._name, self._me, chance)

    def broadcast(self, body: Body) -> bool:
        """Queue a body for the next flush. Return False if the ring has no other member."""
        if self._view.alone and self._streams is not None:
            return False
        self._number += 1
        self._buffer.append((self._number, body))
        return True

    def unsent(self) -> Body | None:
        """The last body that no flush has taken yet."""
        return self._buffer[-1][1] if self._buffer else None

    def amend(self, body: Body) -> None:
        """In place of the unsent one."""
        self._buffer[-1] = (self._buffer[-1][0], body)

    def flush(self) -> list[Effect]:
        if not self._buffer or self._streams is None:
            return []
        pubs, self._buffer = tuple(self._buffer), []
        own = self._streams.setdefault(self._me, Stream())
        own.pending.extend(pubs)
        own.last_pub = pubs[-1][0]
        return [self._activity((SenderState(self._me, pubs, ()),))]

    # --- hearing

    def regroup(self) -> Step:
        """The record may have changed."""
        step = Step()
        self._look_up(step)
        self._take_held(step)
        return step

    def receive(self, message: RingMessage) -> Step:
        step = Step()
        if message.version > self._view.version:
            self._look_up(step)
        if self._held:
            self._held.append(message)
            self._take_held(step)
        else:
            self._take(message, step)
        return step

    def down(self, pid: Pid, reason: str) -> list[Effect]:
        """A watched process ended; it may be none of ours."""
        if reason == NORMAL or pid not in (self._view.left, self._view.right):
            return []
        name = f"{_GUARD} {pid.node} {pid.boot} {pid.number}"
        self._guards[name] = pid
        return [Arm(name, GUARD_MS)]

    def expired(self, name: str) -> list[Effect]:
        """A timer of that name ran out; it may be none of ours."""
        dead = self._guards.pop(name, None)
        if dead is None or dead not in self._view.living:
            return []
        return [Transact(RING_REQUEST, MarkDead(self._name, self._me, dead))]

    def _take_held(self, step: Step) -> None:
        """In the order in which they came; some may have to wait further."""
        held, self._held = self._held, []
        for message in held:
            self._take(message, step)

    def _take(self, message: RingMessage, step: Step) -> None:
        if message.version > self._view.version:
            self._held.append(message)
        elif isinstance(message, Activity):
            if message.left == self._view.left and self._listens():
                self._process(message.entries, step)
        elif isinstance(message, Catchup):
            self._catch_up(message, step)
        else:
            self._on_ask_state(message, step)

    def _listens(self) -> bool:
        return self._streams is not None and self._awaited is None

    def _process(self, entries: tuple[SenderState, ...], step: Step) -> None:
        assert self._streams is not None
        view, streams = self._view, self._streams
        onward: list[SenderState] = []
        for entry in entries:
            sender = entry.sender
            if sender == self._me or sender in view.aliases:
                acks = streams.setdefault(sender, Stream()).returned(entry)
                if acks:
                    onward.append(SenderState(sender, (), acks))
            elif sender in view.known:
                streams.setdefault(sender, Stream()).came_by(entry)
                onward.append(entry)
                step.happened += [Arrived(sender, body) for _, body in entry.pubs]
        if onward and not view.alone:
            step.effects.append(self._activity(tuple(onward)))
        self._erase(step)

    def _activity(self, entries: tuple[SenderState, ...]) -> Send:
        return Send(self._view.right, Activity(self._view.version, self._me, entries))

    # --- links

    def _catch_up(self, message: Catchup, step: Step) -> None:
        if message.left != self._view.left:
            return
        if self._awaited is not None and message.version < self._awaited:
            return
        self._awaited = None
        known = [state for state in message.states if state.sender in self._view.known]
        if self._streams is None:
            self._streams = streams_of(known)
            self._push(step)
        entries = []
        for left in known:
            stream = self._streams.setdefault(left.sender, Stream())
            if left.sender == self._me or left.sender in self._view.aliases:
                entries.append(SenderState(left.sender, left.pending, (left.last_ack,)))
            else:
                entries.append(stream.missed(left))
        self._process(tuple(it for it in entries if it.pubs or it.acks), step)

    def _on_ask_state(self, message: AskState, step: Step) -> None:
        if message.right != self._view.right:
            return
        if self._streams is not None:
            if not self._has_pushed(message):
                self._push(step)
        elif self._me in message.blanks:
            self._streams = {}
            self._awaited = None
            self._push(step)
        elif message.blanks:
            self._ask((*message.blanks, self._me), step)

    def _has_pushed(self, ask: AskState) -> bool:
        """Return whether the requested state is on its way already."""
        if self._pushed is None:
            return False
        right, version = self._pushed
        return right == ask.right and version >= ask.version

    def _push(self, step: Step) -> None:
        assert self._streams is not None
        right, version = self._view.right, self._view.version
        self._pushed = (right, version)
        step.effects.append(Send(right, Catchup(version, self._me, states(self._streams))))

    def _ask(self, blanks: tuple[Pid, ...], step: Step) -> None:
        ask = AskState(self._view.version, self._me, blanks)
        step.effects.append(Send(self._view.left, ask))

    # --- membership

    def _look_up(self, step: Step) -> None:
        group: Group | None = self._world.tables.groups.get(self._name)
        view = None if group is None else view_of(group, self._me)
        if view is None:
            step.lost = True
        elif view.version > self._view.version:
            self._adopt(view, step)

    def _adopt(self, view: View, step: Step) -> None:
        before, self._view = self._view, view
        died = tuple(pid for pid in before.known if pid not in view.known)
        self._erasing.difference_update(died)
        if self._streams is not None:
            self._streams = {it: held for it, held in self._streams.items() if it in view.known}
        if died:
            step.happened.append(Died(died))
        self._watch(before, view, step)
        if view.alone:
            self._begin_anew()
        else:
            if self._streams is not None and view.right != before.right:
                self._push(step)
            if view.left != before.left:
                self._awaited = view.version
                self._ask(() if self._streams is not None else (self._me,), step)
        if self._listens():
            self._erase(step)

    def _begin_anew(self) -> None:
        self._streams = {}
        self._awaited = self._pushed = None
        self._buffer.clear()

    def _watch(self, before: View, view: View, step: Step) -> None:
        old = {before.left, before.right} - {self._me}
        new = {view.left, view.right} - {self._me}
        step.effects += [Unwatch(pid) for pid in sorted(old - new)]
        step.effects += [Watch(pid) for pid in sorted(new - old)]

    def _erase(self, step: Step) -> None:
        """Aliases whose every broadcast is known everywhere."""
        if not self._view.aliases:
            return
        assert self._streams is not None
        streams = self._streams
        done = tuple(
            pid
            for pid in self._view.aliases
            if pid not in self._erasing and (pid not in streams or streams[pid].is_settled)
        )
        if done:
            self._erasing.update(done)
            erase = EraseMembers(self._name, self._me, done)
            step.effects.append(Transact(RING_REQUEST, erase))
