"""What members send each other, as remoting commands.

1. Numbers, names and JSON of votes, heartbeats and METADATA are DLedger's own, so that probes of
   the real one work here. Pushes are ours: MessagePack, several entries in one.
2. Each names its group and the member that it is for. A member answers no message for another.
"""

from enum import IntEnum, StrEnum
from typing import TypeVar

import msgspec

M = TypeVar("M", bound=msgspec.Struct)


class MemberCode(IntEnum):
    METADATA = 50000
    VOTE = 51001
    HEART_BEAT = 51002
    PUSH = 51004


class AnswerCode(IntEnum):
    """DLedger's response codes."""

    SUCCESS = 200
    UNKNOWN_MEMBER = 401
    UNEXPECTED_MEMBER = 402
    EXPIRED_TERM = 403
    NOT_FOLLOWER = 405
    INCONSISTENT_STATE = 406
    INCONSISTENT_TERM = 407
    INCONSISTENT_LEADER = 409


class VoteResult(StrEnum):
    ACCEPT = "ACCEPT"
    UNKNOWN_LEADER = "REJECT_UNKNOWN_LEADER"
    EXPIRED_VOTE_TERM = "REJECT_EXPIRED_VOTE_TERM"
    ALREADY_VOTED = "REJECT_ALREADY_VOTED"
    ALREADY_HAS_LEADER = "REJECT_ALREADY_HAS_LEADER"
    EXPIRED_LEDGER_TERM = "REJECT_EXPIRED_LEDGER_TERM"
    SMALL_LEDGER_END_INDEX = "REJECT_SMALL_LEDGER_END_INDEX"
    TERM_SMALL_THAN_LEDGER = "REJECT_TERM_SMALL_THAN_LEDGER"


class MemberRequest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """`leader_id`: who sends it, as a leader or to become one."""

    group: str
    remote_id: str
    leader_id: str = ""
    term: int = 0


class Vote(MemberRequest, frozen=True, rename="camel", kw_only=True):
    ledger_end_index: int
    ledger_end_term: int


class VoteAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    term: int
    vote_result: VoteResult


class MemberAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    code: AnswerCode = AnswerCode.SUCCESS
    term: int = 0
    leader_id: str | None = None


class PushKind(StrEnum):
    COMPARE = "COMPARE"
    TRUNCATE = "TRUNCATE"
    APPEND = "APPEND"
    COMMIT = "COMMIT"


class Push(MemberRequest, frozen=True, kw_only=True):
    """`index`: of the first entry."""

    kind: PushKind
    commit_index: int
    index: int = -1
    entries: list[bytes] = []


class PushAnswer(MemberAnswer, frozen=True, kw_only=True):
    """`index`: the last entry that matches now; `end_index`: of its log."""

    index: int
    end_index: int


def written(message: msgspec.Struct) -> bytes:
    if isinstance(message, Push | PushAnswer):
        return msgspec.msgpack.encode(message)
    return msgspec.json.encode(message)


def read(body: bytes, kind: type[M]) -> M | None:
    """None: it is no such message."""
    try:
        if issubclass(kind, Push | PushAnswer):
            return msgspec.msgpack.decode(body, type=kind)
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
