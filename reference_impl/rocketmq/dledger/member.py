"""One member of a group: its connections, its election, its log (sans-IO).

1. Its peers dial it at a port of their own (effects.MEMBERS), and it dials them. Any program may
   ask there by METADATA who leads.
2. If members have a secret, votes, heartbeats and pushes have to be proven. A heartbeat of an old
   term is answered without: it changes nothing.
3. A leader appends one empty entry first: nothing of earlier terms is committed before that is.
   An entry counts for its leader at once; with `flushes`, once it is on the disk.
4. An entry is committed when a majority has it, and it is of the leader's own term.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from reference_impl.rocketmq.dledger.election import Ballot, Election
from reference_impl.rocketmq.dledger.entries import EMPTY, MESSAGE, LedgerEntry
from reference_impl.rocketmq.dledger.ledger import Ledger
from reference_impl.rocketmq.dledger.links import MemberLinks
from reference_impl.rocketmq.dledger.messages import (
    AnswerCode,
    MemberCode,
    MemberRequest,
    Push,
    Vote,
    read,
    written,
)
from reference_impl.rocketmq.dledger.pushing import Pushing
from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.dledger.settings import PENDING_MAX, MemberSettings
from reference_impl.rocketmq.dledger.taking import Taking
from reference_impl.rocketmq.effects import Clock, Close, Effect, Transmit
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, encode
from reference_impl.rocketmq.remoting.connections import Connections
from reference_impl.rocketmq.remoting.fields import BadRequest
from reference_impl.rocketmq.remoting.header import HeaderError
from reference_impl.rocketmq.remoting.proofs import NONCE, NONCE_OCTETS, is_proven
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest, serve
from reference_impl.rocketmq.store.disk import Disk

# --- Appended entries that wait for a majority ---------------------------------------------------
# 1. One that no majority had within ledger_ack_limit fails, and may be committed all the same.
# 2. When its member leads no more it is not confirmed any more, whatever becomes of it: what
#    stands under its index may be another leader's. It fails when its time is over.


Settled = Callable[[bool], None]  # whether it is committed


class _Pending(msgspec.Struct, frozen=True):
    index: int
    until_ms: int
    settled: Settled


class Waiting:
    def __init__(self) -> None:
        self._pending: deque[_Pending] = deque()
        self._hopeless: deque[_Pending] = deque()

    def __len__(self) -> int:
        return len(self._pending) + len(self._hopeless)

    def add(self, index: int, until_ms: int, settled: Settled) -> None:
        self._pending.append(_Pending(index, until_ms, settled))

    def committed(self, index: int) -> None:
        """Confirm what stands up to there."""
        while self._pending and self._pending[0].index <= index:
            self._pending.popleft().settled(True)

    def deposed(self) -> None:
        """The member leads no more."""
        self._hopeless += self._pending
        self._pending.clear()

    def overdue(self, now_ms: int) -> None:
        for waiting in (self._hopeless, self._pending):
            while waiting and waiting[0].until_ms <= now_ms:
                waiting.popleft().settled(False)


# --- The member ----------------------------------------------------------------------------------


M = TypeVar("M", bound=MemberRequest)


class DledgerMember:
    """`cut`: committed entries are gone, from this position on (ledger.py 4). `gone`: an entry
    that is about to be cut (taking.py)."""

    def __init__(
        self,
        settings: MemberSettings,
        clock: Clock,
        disk: Disk,
        dice: random.Random,
        cut: Callable[[int], None] = lambda _: None,
        gone: Callable[[LedgerEntry], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._dice = dice
        self.ledger = Ledger(disk, settings)
        self._links = MemberLinks(settings, clock, self._linked)
        ballot = Ballot(disk, settings)
        self._election = Election(
            settings, clock, ballot, self.ledger, self._links, dice, self._role_changed
        )
        self._taking = Taking(settings, self._election, self.ledger, cut, gone)
        self._waiting = Waiting()
        self._pushings: list[Pushing] = []
        self._connections = Connections(settings.times.server_channel_max_idle_time)
        self._nonces: dict[int, str] = {}
        self._effects: list[Effect] = []
        self._kept_ms = clock.now_ms()
        self._handlers: dict[int, Handler] = {
            RequestCode.PEER_CHALLENGE: self._challenge,
            MemberCode.METADATA: self._metadata,
            MemberCode.VOTE: self._vote,
            MemberCode.HEART_BEAT: self._heartbeat,
            MemberCode.PUSH: self._push,
        }

    @property
    def is_leader(self) -> bool:
        return self._election.is_leader

    @property
    def leader(self) -> str:
        """Return the name of the one that it follows, or its own; "" if there is none."""
        return self._election.leader

    @property
    def term(self) -> int:
        return self._election.term

    @property
    def backed_ms(self) -> int | None:
        """Return when a leader sent the last heartbeats that a majority answered; None: none."""
        return self._election.backed_ms

    @property
    def is_caught_up(self) -> bool:
        """Return whether all of its log is committed."""
        return self.ledger.committed_index == self.ledger.end_index

    @property
    def takes_more(self) -> bool:
        """Return whether it leads, and not too many entries wait."""
        return self.is_leader and len(self._waiting) <= PENDING_MAX

    def append(self, body_at: Callable[[int], bytes]) -> LedgerEntry:
        """Append an entry as the leader."""
        assert self.is_leader, "no other member appends"
        return self.ledger.append(MESSAGE, self.term, body_at)

    def wait(self, settled: Settled) -> None:
        """`settled` gets, later, what became of the last entry."""
        until_ms = self._clock.now_ms() + self._settings.times.ledger_ack_limit
        self._waiting.add(self.ledger.end_index, until_ms, settled)

    def __contains__(self, connection: int) -> bool:
        return connection in self._connections or connection in self._links

    def opened(self, connection: int, peer: str, dialled: str | None) -> None:
        if dialled is None:
            self._connections.opened(connection, peer, self._clock.now_ms())
        else:
            self._links.opened(dialled, connection, peer)

    def refused(self, address: str) -> None:
        self._links.refused(address)

    def received(self, connection: int, octets: bytes) -> None:
        if connection not in self._connections:
            self._links.received(connection, octets)
            return
        try:
            commands = self._connections.received(connection, octets, self._clock.now_ms())
        except HeaderError:
            self._hang_up(connection)
            return
        for command in commands:
            if command.is_answer:
                continue
            answer = serve(self._handlers, connection, command)
            if answer is not None:
                self._flush()
                self._effects.append(Transmit(connection, encode(answer)))

    def closed(self, connection: int) -> None:
        self._links.closed(connection)
        self._connections.closed(connection)
        self._nonces.pop(connection, None)

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        for connection in self._connections.idle(now_ms):
            self._hang_up(connection)
        self._links.tick()
        self._election.tick()
        self._waiting.overdue(now_ms)
        if now_ms - self._kept_ms >= self._settings.times.ledger_checkpoint:
            self._kept_ms = now_ms
            self.ledger.keep_committed()

    def take(self) -> list[Effect]:
        """Return the effects of this turn."""
        if self.is_leader:
            for pushing in self._pushings:
                pushing.advance()
            self._flush()
            if not self.is_caught_up:
                self._commit()
        effects, self._effects = self._effects, []
        return effects + self._links.take()

    def answer_also(self, handlers: Mapping[int, Handler]) -> None:
        """Answer these requests, too, at the port for members."""
        self._handlers.update(handlers)

    def stop(self) -> None:
        self.ledger.flush()
        self.ledger.keep_committed()

    # --- leading

    def _role_changed(self) -> None:
        for pushing in self._pushings:
            pushing.end()
        self._pushings = []
        self._waiting.deposed()
        if self.is_leader:
            if self._settings.keeps(Rule.OWN_TERM):
                self.ledger.append(EMPTY, self.term, lambda _: b"")
            self._pushings = [
                Pushing(
                    name,
                    self.term,
                    self._settings,
                    self._clock,
                    self.ledger,
                    self._links,
                    self._commit,
                )
                for name in self._settings.others
            ]

    def _linked(self, name: str) -> None:
        for pushing in self._pushings:
            if pushing.name == name:
                pushing.linked()

    def _commit(self) -> None:
        own = self.ledger.end_index
        if self._settings.flushes and self._settings.keeps(Rule.FLUSH_FIRST):
            own = self.ledger.flushed_index
        matched = sorted((own, *(one.matched for one in self._pushings)), reverse=True)
        least = self._settings.majority if self._settings.keeps(Rule.MAJORITY) else 1
        index = matched[least - 1]
        is_own = self.ledger.term_of(index) == self.term
        if is_own or not self._settings.keeps(Rule.OWN_TERM):
            self.ledger.commit(index)
        if self.is_leader:
            self._waiting.committed(self.ledger.committed_index)

    def _flush(self) -> None:
        if self._settings.flushes and self._settings.keeps(Rule.FLUSH_FIRST):
            self.ledger.flush()

    # --- requests

    def _challenge(self, incoming: IncomingRequest) -> Command:
        nonce = self._nonces[incoming.connection] = self._dice.randbytes(NONCE_OCTETS).hex()
        return incoming.answer(fields={NONCE: nonce})

    def _metadata(self, incoming: IncomingRequest) -> Command:
        request = self._read(incoming, MemberRequest)
        document = {
            "code": AnswerCode.SUCCESS,
            "group": request.group,
            "leaderId": self.leader or None,
            "peers": self._settings.peers,
        }
        return incoming.json(document)

    def _vote(self, incoming: IncomingRequest) -> Command:
        request = self._read(incoming, Vote)
        return self._proven(incoming, lambda: self._election.vote(request))

    def _heartbeat(self, incoming: IncomingRequest) -> Command:
        request = self._read(incoming, MemberRequest)
        if request.term < self.term:
            return incoming.answer(body=written(self._election.heartbeat(request)))
        return self._proven(incoming, lambda: self._election.heartbeat(request))

    def _push(self, incoming: IncomingRequest) -> Command:
        request = self._read(incoming, Push)
        return self._proven(incoming, lambda: self._taking.push(request))

    def _read(self, incoming: IncomingRequest, kind: type[M]) -> M:
        """Raises BadRequest."""
        request = read(incoming.command.body, kind)
        if request is None:
            raise BadRequest("no message of a member")
        if request.group != self._settings.group or request.remote_id != self._settings.name:
            own = f"{self._settings.name} of {self._settings.group}"
            raise BadRequest(f"this is {own}, not {request.remote_id} of {request.group}")
        return request

    def _proven(self, incoming: IncomingRequest, answer: Callable[[], msgspec.Struct]) -> Command:
        secret, nonce = self._settings.secret, self._nonces.get(incoming.connection, "")
        if secret and not is_proven(secret, nonce, incoming.command):
            return incoming.answer(Code.NO_PERMISSION, "It does not know this group's secret")
        return incoming.answer(body=written(answer()))

    def _hang_up(self, connection: int) -> None:
        self._effects.append(Close(connection))
        self.closed(connection)
