"""Who leads a group: candidates, followers and leaders, by votes and heartbeats.

1. A member begins as a candidate. A follower that had no heartbeat for more than three intervals
   becomes one. So does a leader whose heartbeats no majority answered for as long.
2. A candidate requests votes in its term; if they do not suffice, in the next one after
   ledger_vote_min to ledger_vote_max. There is no vote in advance.
3. A vote goes to the first candidate of a term whose log is not behind the own one: a later last
   term, or the same and as many entries. This is looked at first: the term of a candidate that
   is behind has no effect. There is no lease: a leader is one until it hears of a later term.
4. A later term is entered at once. In the real one it is when its thread comes to it, and the
   candidate asks a second time.
5. A leader gives way to a member in a later term, even if a majority follows it. The real one does
   not, and a member that is behind and in a later term follows no leader for as long as it leads.
6. No member leads twice in one term, as it can in the real one: after the loss of its power it
   would put other entries under an index and a term that were used.
"""

import random
from collections.abc import Callable
from enum import Enum
from functools import partial

import msgspec

from reference_impl.rocketmq.dledger.ledger import Ledger
from reference_impl.rocketmq.dledger.links import MemberLinks
from reference_impl.rocketmq.dledger.messages import (
    AnswerCode,
    MemberAnswer,
    MemberCode,
    MemberRequest,
    Vote,
    VoteAnswer,
    VoteResult,
    read,
)
from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.dledger.settings import HEARTBEATS_MISSED_MAX, MemberSettings
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.store.disk import Disk

# --- A member's term and vote, which are on the disk before it answers with them -----------------


class _KeptBallot(msgspec.Struct, frozen=True, rename="camel"):
    curr_term: int
    vote_leader: str


class Ballot:
    """`vote`: whom it voted for in its term; "": none yet. Raises ValueError for a document
    that is none: a member that forgot its vote must not vote again."""

    def __init__(self, disk: Disk, settings: MemberSettings) -> None:
        self._disk = disk
        self._document = f"{settings.folder}/currterm"
        self._is_kept = settings.keeps(Rule.REMEMBER_VOTE)
        self.term, self.vote = 0, ""
        kept = disk.document(self._document) if self._is_kept else None
        if kept is not None:
            try:
                ballot = msgspec.json.decode(kept, type=_KeptBallot)
            except msgspec.DecodeError as error:
                raise ValueError(f"{self._document}: no term and vote: {error}") from error
            self.term, self.vote = ballot.curr_term, ballot.vote_leader

    def enter(self, term: int) -> None:
        """Begin a later term, without a vote."""
        assert term > self.term, f"term {term} is not after {self.term}"
        self.term, self.vote = term, ""
        self._keep()

    def cast(self, name: str) -> None:
        if self.vote != name:
            assert not self.vote, f"it voted for {self.vote} in term {self.term}"
            self.vote = name
            self._keep()

    def _keep(self) -> None:
        if self._is_kept:
            ballot = _KeptBallot(self.term, self.vote)
            self._disk.keep(self._document, msgspec.json.encode(ballot), flushed=True)


# --- Elections -----------------------------------------------------------------------------------


_BEHIND = (VoteResult.EXPIRED_LEDGER_TERM, VoteResult.SMALL_LEDGER_END_INDEX)
_LATER = (VoteResult.EXPIRED_VOTE_TERM, VoteResult.TERM_SMALL_THAN_LEDGER)


class MemberRole(Enum):
    CANDIDATE = "candidate"
    FOLLOWER = "follower"
    LEADER = "leader"


class _Round(msgspec.Struct):
    """Of votes, or of heartbeats."""

    term: int
    until_ms: int
    answers: dict[str, VoteResult | AnswerCode | None] = {}
    term_max: int = 0


class Election:
    """`changed`: its role is another, or it is the same of another term or leader. `backed_ms`:
    when the leader sent the last heartbeats that a majority answered: no other led before that."""

    def __init__(
        self,
        settings: MemberSettings,
        clock: Clock,
        ballot: Ballot,
        ledger: Ledger,
        links: MemberLinks,
        dice: random.Random,
        changed: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._times = settings.times
        self._clock = clock
        self._ballot = ballot
        self._ledger = ledger
        self._links = links
        self._dice = dice
        self._changed = changed
        self.role, self.leader = MemberRole.CANDIDATE, ""
        self._led = ballot.vote == settings.name  # in this term, or it may have
        self._term_max = ballot.term
        self._needs_term = False
        self._round: _Round | None = None
        self._beat: _Round | None = None
        self._vote_ms = clock.now_ms() + self._pause_ms()
        self._heard_ms = self._beaten_ms = self._beat_ms = 0
        self.backed_ms: int | None = None

    @property
    def term(self) -> int:
        return self._ballot.term

    @property
    def is_leader(self) -> bool:
        return self.role is MemberRole.LEADER

    def vote(self, request: Vote) -> VoteAnswer:
        """AnswerCode a candidate, which may be itself."""
        result = self._vote(request)
        # What the log says of the term may be later, if the term was lost.
        small = result is VoteResult.TERM_SMALL_THAN_LEDGER
        term = self._ledger.end_term if small else self.term
        return VoteAnswer(term=term, vote_result=result)

    def heartbeat(self, request: MemberRequest) -> MemberAnswer:
        sender = request.leader_id
        if sender not in self._settings.peers:
            return self._answer(AnswerCode.UNKNOWN_MEMBER)
        if sender == self._settings.name:
            return self._answer(AnswerCode.UNEXPECTED_MEMBER)
        if request.term < self.term:
            return self._answer(AnswerCode.EXPIRED_TERM)
        if request.term == self.term and self.leader not in ("", sender):
            return self._answer(AnswerCode.INCONSISTENT_LEADER)
        if request.term > self.term:
            self._enter(request.term)
        if self.leader != sender:
            self._be(MemberRole.FOLLOWER, sender)
        self._heard_ms = self._clock.now_ms()
        return self._answer(AnswerCode.SUCCESS)

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        match self.role:
            case MemberRole.LEADER:
                self._lead(now_ms)
            case MemberRole.FOLLOWER:
                if now_ms - self._heard_ms > self._limit_ms:
                    self._become_candidate(self.term, now_ms)
            case MemberRole.CANDIDATE:
                if self._round is not None:
                    if now_ms >= self._round.until_ms:
                        self._conclude(self._round)
                elif now_ms >= self._vote_ms:
                    self._canvass(now_ms)

    # --- votes

    def _vote(self, request: Vote) -> VoteResult:
        if request.leader_id not in self._settings.peers:
            return VoteResult.UNKNOWN_LEADER
        if self._settings.keeps(Rule.COMPLETE_LOG):
            if request.ledger_end_term < self._ledger.end_term:
                return VoteResult.EXPIRED_LEDGER_TERM
            is_same = request.ledger_end_term == self._ledger.end_term
            if is_same and request.ledger_end_index < self._ledger.end_index:
                return VoteResult.SMALL_LEDGER_END_INDEX
        if request.term < self.term:
            return VoteResult.EXPIRED_VOTE_TERM
        if request.term > self.term:
            self._enter(request.term)
        elif self._ballot.vote not in ("", request.leader_id):
            has_leader = self.leader != ""
            return VoteResult.ALREADY_HAS_LEADER if has_leader else VoteResult.ALREADY_VOTED
        if request.term < self._ledger.end_term:
            return VoteResult.TERM_SMALL_THAN_LEDGER
        self._ballot.cast(request.leader_id)
        return VoteResult.ACCEPT

    def _canvass(self, now_ms: int) -> None:
        self._term_max = max(self._term_max, self._ledger.end_term)
        if self._needs_term or self._led or self.term == 0 or self._term_max > self.term:
            self._ballot.enter(max(self._term_max, self.term + 1))
            self._needs_term = self._led = False
        name, group = self._settings.name, self._settings.group
        patience_ms = self._times.ledger_vote_wait + self._dice.randrange(
            self._times.ledger_vote_max
        )
        one = self._round = _Round(self.term, now_ms + patience_ms, {})
        requests = {
            other: Vote(
                group=group,
                remote_id=other,
                leader_id=name,
                term=self.term,
                ledger_end_index=self._ledger.end_index,
                ledger_end_term=self._ledger.end_term,
            )
            for other in self._settings.peers
        }
        own = self.vote(requests[name])
        self._count(one, name, own)
        for other in self._settings.others:
            self._links.call(
                other,
                MemberCode.VOTE,
                requests[other],
                self._times.ledger_call_limit,
                partial(self._heard_vote, one, other),
            )

    def _heard_vote(self, one: _Round, other: str, body: bytes | None) -> None:
        if self._round is one:
            self._count(one, other, None if body is None else read(body, VoteAnswer))

    def _count(self, one: _Round, other: str, answer: VoteAnswer | None) -> None:
        one.answers[other] = None if answer is None else answer.vote_result
        if answer is not None and answer.vote_result in _LATER:
            one.term_max = max(one.term_max, answer.term)
        results = [*one.answers.values()]
        if (
            results.count(VoteResult.ACCEPT) >= self._settings.majority
            or VoteResult.ALREADY_HAS_LEADER in results
            or len(results) == len(self._settings.peers)
        ):
            self._conclude(one)

    def _conclude(self, one: _Round) -> None:
        self._round = None
        results = [result for result in one.answers.values() if result is not None]
        behind = sum(1 for result in results if result in _BEHIND)
        majority, now_ms = self._settings.majority, self._clock.now_ms()
        self._vote_ms = now_ms + self._pause_ms()
        if one.term_max > one.term:
            self._term_max, self._needs_term = max(self._term_max, one.term_max), True
        elif results.count(VoteResult.ACCEPT) >= majority:
            self._led = True
            self._beaten_ms, self._beat_ms = now_ms, now_ms
            self._be(MemberRole.LEADER, self._settings.name)
            self._send_heartbeats(now_ms)
        elif VoteResult.ALREADY_HAS_LEADER in results:
            self._vote_ms += self._limit_ms
        elif len(results) >= majority:
            if len(results) - behind >= majority:
                self._needs_term = True
            else:
                self._vote_ms += self._times.ledger_vote_max

    # --- heartbeats

    def _lead(self, now_ms: int) -> None:
        if self._beat is not None and now_ms >= self._beat.until_ms:
            self._judge(self._beat, now_ms)
        if self.is_leader and now_ms - self._beat_ms > self._times.ledger_heartbeat:
            self._send_heartbeats(now_ms)

    def _send_heartbeats(self, now_ms: int) -> None:
        self._beat_ms = now_ms
        one = self._beat = _Round(self.term, now_ms + self._times.ledger_heartbeat, {})
        one.answers[self._settings.name] = AnswerCode.SUCCESS
        for other in self._settings.others:
            request = MemberRequest(
                group=self._settings.group,
                remote_id=other,
                leader_id=self._settings.name,
                term=self.term,
            )
            self._links.call(
                other,
                MemberCode.HEART_BEAT,
                request,
                self._times.ledger_call_limit,
                partial(self._heard_beat, one, other),
            )

    def _heard_beat(self, one: _Round, other: str, body: bytes | None) -> None:
        answer = None if body is None else read(body, MemberAnswer)
        if self._gives_way(answer):
            return
        if self._beat is not one:
            return
        one.answers[other] = None if answer is None else answer.code
        if answer is not None and answer.code is AnswerCode.EXPIRED_TERM:
            one.term_max = max(one.term_max, answer.term)
        successes = [*one.answers.values()].count(AnswerCode.SUCCESS)
        everyone = len(one.answers) == len(self._settings.peers)
        if successes >= self._settings.majority or everyone:
            self._judge(one, self._clock.now_ms())

    def _gives_way(self, answer: MemberAnswer | None) -> bool:
        """Become a candidate if a member is in a later term."""
        if answer is None or answer.code is not AnswerCode.EXPIRED_TERM or not self.is_leader:
            return False
        if answer.term <= self.term or not self._settings.keeps(Rule.GIVE_WAY):
            return False
        self._become_candidate(answer.term, self._clock.now_ms())
        return True

    def _judge(self, one: _Round, now_ms: int) -> None:
        """One round of heartbeats is over."""
        self._beat = None
        answers = [*one.answers.values()]
        if answers.count(AnswerCode.SUCCESS) >= self._settings.majority:
            self._beaten_ms = now_ms
            self.backed_ms = one.until_ms - self._times.ledger_heartbeat
        elif one.term_max > one.term:
            self._become_candidate(one.term_max, now_ms)
        elif AnswerCode.INCONSISTENT_LEADER in answers or (
            now_ms - self._beaten_ms > self._limit_ms and self._settings.keeps(Rule.STEP_DOWN)
        ):
            self._become_candidate(self.term, now_ms)

    # --- roles

    def _become_candidate(self, term: int, now_ms: int) -> None:
        self._term_max = max(self._term_max, term)
        self._vote_ms = now_ms
        self._be(MemberRole.CANDIDATE, "")

    def _enter(self, term: int) -> None:
        """Another member is in a later term."""
        self._ballot.enter(term)
        self._led = self._needs_term = False
        self._term_max = max(self._term_max, term)
        self._vote_ms = self._clock.now_ms() + self._pause_ms()
        self._be(MemberRole.CANDIDATE, "")

    def _be(self, role: MemberRole, leader: str) -> None:
        self._round = self._beat = self.backed_ms = None
        self.role, self.leader = role, leader
        self._changed()

    def _answer(self, code: AnswerCode) -> MemberAnswer:
        return MemberAnswer(code=code, term=self.term, leader_id=self.leader or None)

    @property
    def _limit_ms(self) -> int:
        return HEARTBEATS_MISSED_MAX * self._times.ledger_heartbeat

    def _pause_ms(self) -> int:
        least, most = self._times.ledger_vote_min, self._times.ledger_vote_max
        return least + self._dice.randrange(max(1, most - least))
