"""A control node: it watches brokers by their registrations, and decides who is master.

1. It is a member of a Raft group (dledger.member). It answers only while it leads and all that was
   agreed on before is committed, and with what is committed.
2. A broker is dead if it has been silent for the expiry time. The table of who was heard is not
   kept: a new leader waits as long before it takes anybody for dead.
3. It grants a lease only to the master that is committed, and to none that it is about to
   replace. The lease counts from the last heartbeat that a majority answered: no other control
   node can lead, and wait for the expiry time, before it is over.
4. It replaces a dead master by the member of the committed set with the longest log. If no other
   member is alive, the group waits for its master.
"""

from collections.abc import Callable

import msgspec

from reference_impl.rocketmq.ctgmq.groups import (
    Alter,
    Enrol,
    GroupCommand,
    GroupState,
    Promote,
    applied,
    read,
    written,
)
from reference_impl.rocketmq.ctgmq.requests import Beat, ControlAnswer, ControlRequest, Leave
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import ControlSettings
from reference_impl.rocketmq.dledger.entries import MESSAGE
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.effects import Clock

Answer = Callable[[ControlAnswer], None]


class _HeardBroker(msgspec.Struct, frozen=True):
    at_ms: int
    end: int


class Control:
    def __init__(self, settings: ControlSettings, member: DledgerMember, clock: Clock) -> None:
        self._settings = settings
        self._member = member
        self._clock = clock
        self._groups: dict[str, GroupState] = {}
        self._applied = 0  # position in the ledger
        self._term, self._since_ms = -1, 0  # of its leading
        self._heard: dict[tuple[str, str], _HeardBroker] = {}
        self._promoted: dict[str, int] = {}  # epochs that it asked to end, by group

    def state(self, group: str) -> GroupState:
        """Return what is committed, as far as this one knows."""
        return self._groups.get(group, GroupState())

    def is_alive(self, group: str, name: str) -> bool:
        """Return whether it was heard in time; False where this one does not lead."""
        return self._alive(group, name) is not None

    @property
    def leads(self) -> bool:
        """Return whether it knows all that was ever agreed on."""
        return self._member.is_leader and self._term == self._member.term

    def request(self, request: ControlRequest, answer: Answer) -> None:
        """Answer now, or when a majority knows of it."""
        self.turn()
        if not self.leads:
            answer(ControlAnswer())
            return
        match request:
            case Beat():
                self._beat(request, answer)
            case Alter():
                self._propose(request, answer)
            case Leave():
                self._leave(request, answer)

    def turn(self) -> None:
        """Apply what was committed, and replace masters that are dead."""
        self._apply()
        member = self._member
        if not member.is_leader:
            self._term = -1
            return
        if member.term != self._term:
            if not member.is_caught_up:
                return
            self._term, self._since_ms = member.term, self._clock.now_ms()
            self._heard.clear()
            self._promoted.clear()
        for group, state in self._groups.items():
            self._replace(group, state)

    def _apply(self) -> None:
        for entry in self._member.ledger.committed_from(self._applied):
            self._applied = entry.end
            if entry.magic == MESSAGE:
                command = read(entry.body)
                state = self.state(command.group)
                self._groups[command.group] = applied(state, command, self._settings.without)

    def _beat(self, beat: Beat, answer: Answer) -> None:
        state = self.state(beat.group)
        enrolled = state.replicas.get(beat.name)
        if enrolled is None:
            self._propose(Enrol(beat.group, beat.name, beat.enrolled), answer)
        elif enrolled != beat.enrolled and self._settings.keeps(ReplicaRule.CHECK_CODE):
            answer(ControlAnswer(state, is_refused=True))
        else:
            heard = _HeardBroker(self._clock.now_ms(), beat.end)
            self._heard[beat.group, beat.name] = heard
            answer(ControlAnswer(state, self._age_ms(beat.group, beat.name)))

    def _age_ms(self, group: str, name: str) -> int | None:
        """None: it gets no lease."""
        state, backed_ms = self.state(group), self._member.backed_ms
        if state.master != name or self._promoted.get(group) == state.epoch:
            return None
        if not self._settings.keeps(ReplicaRule.QUORUM_LEASE):
            return 0
        return None if backed_ms is None else self._clock.now_ms() - backed_ms

    def _leave(self, leave: Leave, answer: Answer) -> None:
        if self._settings.keeps(ReplicaRule.HANDOVER):
            self._heard.pop((leave.group, leave.name), None)
            state = self.state(leave.group)
            if state.master == leave.name:
                self._elect(leave.group, state)
        answer(ControlAnswer(self.state(leave.group)))

    def _replace(self, group: str, state: GroupState) -> None:
        now_ms = self._clock.now_ms()
        heard = self._heard.get((group, state.master))
        grace_ms = self._since_ms if self._settings.keeps(ReplicaRule.GRACE) else -now_ms
        heard_ms = grace_ms if heard is None else heard.at_ms
        if now_ms - max(heard_ms, grace_ms) > self._settings.times.expiry:
            self._elect(group, state)

    def _elect(self, group: str, state: GroupState) -> None:
        if self._promoted.get(group) == state.epoch:
            return
        allowed = state.members if self._settings.keeps(ReplicaRule.IN_SET) else state.replicas
        alive = {name: heard.end for name in allowed if (heard := self._alive(group, name))}
        alive.pop(state.master, None)
        if alive:
            self._promoted[group] = state.epoch
            master = max(sorted(alive), key=lambda name: alive[name])
            self._propose(Promote(group, state.epoch, master), lambda _: None)

    def _alive(self, group: str, name: str) -> _HeardBroker | None:
        heard, now_ms = self._heard.get((group, name)), self._clock.now_ms()
        if heard is None or now_ms - heard.at_ms > self._settings.times.expiry:
            return None
        return heard

    def _propose(self, command: GroupCommand, answer: Answer) -> None:
        def settled(is_committed: bool) -> None:
            self._apply()
            answer(ControlAnswer(self.state(command.group) if is_committed else None))

        if not self._member.takes_more:
            answer(ControlAnswer())
            return
        self._member.append(lambda _: written(command))
        self._member.wait(settled)
