"""A leader's pushes to one follower: COMPARE, TRUNCATE at the divergence, APPEND, COMMIT.

1. It compares from its own last entry downwards, and goes on from the follower's end where that
   is shorter. One comparison, or one cut, is under way at a time.
2. Entries go in order, several in one push, at most WINDOW_OCTETS without an answer.
3. A refusal, a lost connection or a missing answer starts it again, ledger_retry later.
   Answers to what was pushed before that mean nothing.
4. A follower that misses nothing gets a COMMIT once ledger_commit is over.
"""

from collections.abc import Callable

from reference_impl.rocketmq.dledger.ledger import NONE, Ledger
from reference_impl.rocketmq.dledger.links import MemberLinks
from reference_impl.rocketmq.dledger.messages import (
    AnswerCode,
    MemberCode,
    Push,
    PushAnswer,
    PushKind,
    read,
)
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.effects import Clock

PUSH_OCTETS = 256 * 1024
WINDOW_OCTETS = 4 * 1024 * 1024


class Pushing:
    """`term`: the leader's; `counted`: the follower has more of the log than before.
    `matched`: up to where it has the leader's log."""

    def __init__(
        self,
        name: str,
        term: int,
        settings: MemberSettings,
        clock: Clock,
        ledger: Ledger,
        links: MemberLinks,
        counted: Callable[[], None],
    ) -> None:
        self.name = name
        self._term = term
        self._settings = settings
        self._times = settings.times
        self._clock = clock
        self._ledger = ledger
        self._links = links
        self._counted = counted
        self.matched = NONE
        self._attempt = 0
        self._is_over = False
        self._kind = PushKind.COMPARE
        self._at, self._is_waiting = NONE, False  # the entry that is compared or cut behind
        self._next, self._unanswered = NONE, 0  # the entry that is appended next; octets
        self._retry_ms = self._pushed_ms = clock.now_ms()

    def end(self) -> None:
        """Its member leads no more, or in another term."""
        self._is_over = True

    def linked(self) -> None:
        """There is a new connection to the follower."""
        self._restart(0)

    def advance(self) -> None:
        """Push what there is to push."""
        now_ms = self._clock.now_ms()
        if self._is_over or not self._links.is_open(self.name) or now_ms < self._retry_ms:
            return
        if self._kind is PushKind.APPEND:
            self._append(now_ms)
        elif not self._is_waiting and self._ledger.end_index != NONE:
            if self._kind is PushKind.COMPARE and self._at == NONE:
                self._at = self._ledger.end_index
            self._is_waiting = True
            self._push(self._kind, self._at, self._one(self._at))

    def _append(self, now_ms: int) -> None:
        while self._next <= self._ledger.end_index and self._unanswered < WINDOW_OCTETS:
            entries = self._ledger.entries(self._next, PUSH_OCTETS)
            octets = [entry.octets for entry in entries]
            self._unanswered += sum(map(len, octets))
            start, self._next = self._next, self._next + len(entries)
            self._push(PushKind.APPEND, start, octets)
        if self._next > self._ledger.end_index and now_ms - self._pushed_ms > self._commit_ms:
            self._push(PushKind.COMMIT, NONE, [])

    def _push(self, kind: PushKind, index: int, entries: list[bytes]) -> None:
        request = Push(
            group=self._settings.group,
            remote_id=self.name,
            leader_id=self._settings.name,
            term=self._term,
            kind=kind,
            commit_index=self._ledger.committed_index,
            index=index,
            entries=entries,
        )
        self._pushed_ms = self._clock.now_ms()
        attempt, octets = self._attempt, sum(map(len, entries))

        def heard(body: bytes | None) -> None:
            if attempt == self._attempt and not self._is_over:
                answer = None if body is None else read(body, PushAnswer)
                self._heard(kind, octets, answer)

        limit_ms = self._times.ledger_call_limit
        self._links.call(self.name, MemberCode.PUSH, request, limit_ms, heard)

    def _heard(self, kind: PushKind, octets: int, answer: PushAnswer | None) -> None:
        if answer is None:
            self._restart(self._times.ledger_retry)
        elif kind is PushKind.COMPARE:
            self._compared(answer)
        elif answer.code is not AnswerCode.SUCCESS:
            self._restart(self._times.ledger_retry)
        elif kind is PushKind.TRUNCATE:
            self._begin(answer.index)
        elif kind is PushKind.APPEND:
            self._unanswered -= octets
            self._count(answer.index)
        self.advance()

    def _compared(self, answer: PushAnswer) -> None:
        self._is_waiting = False
        end = answer.end_index
        if answer.code is AnswerCode.SUCCESS and self._at == end:
            self._begin(self._at)
        elif answer.code is AnswerCode.SUCCESS:
            self._kind = PushKind.TRUNCATE
        elif answer.code is not AnswerCode.INCONSISTENT_STATE:
            self._restart(self._times.ledger_retry)
        elif self._at > end and end != NONE:
            self._at = end
        elif self._at == 0 or end == NONE:
            # They have nothing in common: it begins with the leader's first entry.
            self._kind, self._at = PushKind.TRUNCATE, 0
        else:
            self._at -= 1

    def _begin(self, index: int) -> None:
        """The follower has the log up to there, and nothing else."""
        self._kind, self._is_waiting = PushKind.APPEND, False
        self._next, self._unanswered = index + 1, 0
        self._count(index)

    def _count(self, index: int) -> None:
        if index > self.matched:
            self.matched = index
            self._counted()

    def _restart(self, pause_ms: int) -> None:
        self._attempt += 1
        self._kind = PushKind.COMPARE
        self._at, self._is_waiting = NONE, False
        self._next, self._unanswered = NONE, 0
        self._retry_ms = self._clock.now_ms() + pause_ms
        self._pushed_ms = self._clock.now_ms()

    def _one(self, index: int) -> list[bytes]:
        entry = self._ledger.entry(index)
        return [] if entry is None else [entry.octets]

    @property
    def _commit_ms(self) -> int:
        return self._times.ledger_commit
