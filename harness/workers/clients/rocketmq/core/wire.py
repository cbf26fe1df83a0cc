"""What the Java side tells, as values: the entries of its outbox (compose/rocketmq-java).

1. Pure: bytes in, values out; nothing here says what an answer means.
2. Big endian. An entry is kind u8, at_ns i64 (System.nanoTime, which is CLOCK_MONOTONIC), then
   Answer: tag i64, status i8, state i8, and three texts (classes, codes, remarks; NUL between the
       failure and each of its causes)
   Message: tag i64, queue i32, offset i64, reconsumed i32, retried u8, broker text, body
   Notice: two texts (kind, detail)
   where a text or a body is its length i32 and so many bytes.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

ANSWER, MESSAGE, NOTICE = 1, 2, 3
HANDED_OVER, FAILED = -1, -2  # statuses in addition to the ordinals of SendStatus
NO_STATE = -1

_HEAD = struct.Struct(">Bq")
_ANSWER = struct.Struct(">qbb")
_MESSAGE = struct.Struct(">qiqiB")
_LENGTH = struct.Struct(">i")
_NO_FAILURE = bytes(3 * _LENGTH.size)
_SEND_OK = struct.Struct(">BqqbbIII")  # the whole entry of an answer without a failure
_STORED = (0, NO_STATE, 0, 0, 0)  # status, state, and the lengths of three empty texts


class Cause(NamedTuple):
    """One exception of a chain; `code` is the broker's or the client's own, -1 without one."""

    name: str
    code: int
    remark: str


class RawAnswer(NamedTuple):
    """What became of one send, in the library's own words."""

    at_ns: int
    tag: int
    status: int  # ordinal of SendStatus, HANDED_OVER or FAILED
    state: int  # ordinal of LocalTransactionState, or NO_STATE
    causes: tuple[Cause, ...]  # the exception and what caused it, outermost first


class RawMessage(NamedTuple):
    """One message as the library handed it to its listener."""

    at_ns: int
    tag: int
    queue: int
    offset: int
    reconsumed: int  # times
    retried: bool  # it came by the retry topic
    broker: str
    body: bytes


class RawNotice(NamedTuple):
    at_ns: int
    kind: str
    detail: str


Entry = RawAnswer | RawMessage | RawNotice


def stored(taken: bytes) -> tuple[Sequence[int], Sequence[int]] | None:
    """The tags and times of answers that are all SEND_OK, outside of transactions; None if there
    is any other entry."""
    if not taken or len(taken) % _SEND_OK.size:
        return None
    kinds, times_ns, tags, *rest = zip(*_SEND_OK.iter_unpack(taken), strict=True)
    alike = set(kinds) == {ANSWER} and set(zip(*rest, strict=True)) == {_STORED}
    return (tags, times_ns) if alike else None


def entries(taken: bytes) -> Iterator[Entry]:
    """The whole entries that `taken` consists of."""
    at = 0
    while at < len(taken):
        kind, at_ns = _HEAD.unpack_from(taken, at)
        at += _HEAD.size
        if kind == ANSWER:
            entry, at = _answer(taken, at, at_ns)
        elif kind == MESSAGE:
            entry, at = _message(taken, at, at_ns)
        else:
            assert kind == NOTICE, kind
            entry, at = _notice(taken, at, at_ns)
        yield entry


def _answer(taken: bytes, at: int, at_ns: int) -> tuple[Entry, int]:
    tag, status, state = _ANSWER.unpack_from(taken, at)
    at += _ANSWER.size
    end = at + len(_NO_FAILURE)
    if taken[at:end] == _NO_FAILURE:
        return RawAnswer(at_ns, tag, status, state, ()), end
    classes, at = _text(taken, at)
    codes, at = _text(taken, at)
    remarks, at = _text(taken, at)
    chain = zip(classes.split("\0"), codes.split("\0"), remarks.split("\0"), strict=True)
    causes = tuple(Cause(name, int(code), remark) for name, code, remark in chain)
    return RawAnswer(at_ns, tag, status, state, causes), at


def _message(taken: bytes, at: int, at_ns: int) -> tuple[Entry, int]:
    tag, queue, offset, reconsumed, retried = _MESSAGE.unpack_from(taken, at)
    broker, at = _text(taken, at + _MESSAGE.size)
    body, at = _bytes(taken, at)
    return RawMessage(at_ns, tag, queue, offset, reconsumed, bool(retried), broker, body), at


def _notice(taken: bytes, at: int, at_ns: int) -> tuple[Entry, int]:
    kind, at = _text(taken, at)
    detail, at = _text(taken, at)
    return RawNotice(at_ns, kind, detail), at


def _text(taken: bytes, at: int) -> tuple[str, int]:
    encoded, at = _bytes(taken, at)
    return encoded.decode(), at


def _bytes(taken: bytes, at: int) -> tuple[bytes, int]:
    (length,) = _LENGTH.unpack_from(taken, at)
    start = at + _LENGTH.size
    return taken[start : start + length], start + length
