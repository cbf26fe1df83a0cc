"""What a follower does with its leader's pushes.

1. It takes them from the leader of its term alone, and as a follower.
2. COMPARE: it says whether an entry is the same here, all octets of it. Nothing is appended in a
   term before its whole log is known to match: the last entry was compared, or what came after
   the compared one was cut.
3. What matched once is not cut in the same term: only a late TRUNCATE could ask for it, and the
   leader may have counted what it would cut.
4. It commits as far as its leader has, and as its own log is known to match.
"""

from collections.abc import Callable

from reference_impl.rocketmq.dledger.election import Election, MemberRole
from reference_impl.rocketmq.dledger.entries import LedgerEntry, read
from reference_impl.rocketmq.dledger.ledger import NONE, Ledger
from reference_impl.rocketmq.dledger.messages import AnswerCode, Push, PushAnswer, PushKind
from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.dledger.settings import MemberSettings


class Taking:
    """`cut`: what was committed is gone, from this position on. `gone`: with a rule switched off,
    each entry that is about to be cut, committed or not."""

    def __init__(
        self,
        settings: MemberSettings,
        election: Election,
        ledger: Ledger,
        cut: Callable[[int], None],
        gone: Callable[[LedgerEntry], None],
    ) -> None:
        self._settings = settings
        self._election = election
        self._ledger = ledger
        self._cut = cut
        self._gone = gone
        self._matched, self._matched_term = NONE, NONE

    def push(self, request: Push) -> PushAnswer:
        code = self._refusal(request)
        if code is AnswerCode.SUCCESS:
            code = self._take(request)
        is_matched = code is AnswerCode.SUCCESS and self._matched_term == request.term
        return PushAnswer(
            code=code,
            term=self._election.term,
            index=self._matched if is_matched else NONE,
            end_index=self._ledger.end_index,
        )

    def _refusal(self, request: Push) -> AnswerCode:
        election = self._election
        if not self._settings.keeps(Rule.FENCE):
            return AnswerCode.SUCCESS
        if request.term != election.term:
            return AnswerCode.INCONSISTENT_TERM
        if election.role is not MemberRole.FOLLOWER:
            return AnswerCode.NOT_FOLLOWER
        if request.leader_id != election.leader:
            return AnswerCode.INCONSISTENT_LEADER
        return AnswerCode.SUCCESS

    def _take(self, request: Push) -> AnswerCode:
        entries = [entry for one in request.entries if (entry := _entry(one)) is not None]
        if len(entries) != len(request.entries):
            return AnswerCode.INCONSISTENT_STATE
        match request.kind:
            case PushKind.COMPARE | PushKind.TRUNCATE if len(entries) != 1:
                return AnswerCode.INCONSISTENT_STATE
            case PushKind.COMPARE:
                return self._compare(request, entries[0])
            case PushKind.TRUNCATE:
                code = self._truncate(request, entries[0])
            case PushKind.APPEND:
                code = self._append(request, entries)
            case PushKind.COMMIT:
                code = AnswerCode.SUCCESS
        if code is AnswerCode.SUCCESS and self._matched_term == request.term:
            self._ledger.commit(min(request.commit_index, self._matched))
        return code

    def _compare(self, request: Push, entry: LedgerEntry) -> AnswerCode:
        if not self._is_same(entry):
            return AnswerCode.INCONSISTENT_STATE
        if entry.index == self._ledger.end_index:
            self._match(entry.index, request.term)
        return AnswerCode.SUCCESS

    def _truncate(self, request: Push, entry: LedgerEntry) -> AnswerCode:
        matched = self._matched if self._matched_term == request.term else NONE
        if entry.index < matched and self._settings.keeps(Rule.KEEP_MATCHED):
            return AnswerCode.INCONSISTENT_STATE
        is_same = self._is_same(entry)
        if not is_same and entry.index != 0:
            return AnswerCode.INCONSISTENT_STATE
        last = entry.index if is_same else NONE
        if self._settings.without is not None:
            self._admit(last)
        if self._ledger.cut(last):
            self._cut(self._ledger.end)
        if not is_same and not self._ledger.accept(entry):
            return AnswerCode.INCONSISTENT_STATE
        self._match(entry.index, request.term)
        return AnswerCode.SUCCESS

    def _admit(self, last: int) -> None:
        """Report what comes after that entry."""
        for index in range(last + 1, self._ledger.end_index + 1):
            entry = self._ledger.entry(index)
            if entry is not None:
                self._gone(entry)

    def _append(self, request: Push, entries: list[LedgerEntry]) -> AnswerCode:
        if self._matched_term != request.term and self._settings.keeps(Rule.FENCE):
            return AnswerCode.INCONSISTENT_STATE
        for entry in entries:
            if entry.index <= self._ledger.end_index:
                if not self._is_same(entry):
                    return AnswerCode.INCONSISTENT_STATE
                continue
            if not self._ledger.accept(entry):
                return AnswerCode.INCONSISTENT_STATE
            self._match(entry.index, request.term)
        return AnswerCode.SUCCESS

    def _is_same(self, entry: LedgerEntry) -> bool:
        own = self._ledger.entry(entry.index)
        if self._settings.keeps(Rule.COMPARE):
            return own == entry
        return own is not None

    def _match(self, index: int, term: int) -> None:
        self._matched, self._matched_term = index, term


def _entry(octets: bytes) -> LedgerEntry | None:
    found = read(octets)
    return found if isinstance(found, LedgerEntry) else None
