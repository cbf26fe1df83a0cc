"""Entries of the outbox: whatever the Java side writes is read back as it was."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from harness.workers.clients.rocketmq.core.wire import (
    ANSWER,
    FAILED,
    MESSAGE,
    NO_STATE,
    NOTICE,
    Cause,
    Entry,
    RawAnswer,
    RawMessage,
    RawNotice,
    entries,
    stored,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(0, 2**31 - 1)
TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))
CAUSES = st.lists(st.builds(Cause, TEXT, st.integers(-1, 20000), TEXT), min_size=1).map(tuple)
ENTRIES = st.one_of(
    st.builds(RawAnswer, INT64, INT64, st.integers(0, 3), st.integers(-1, 2), st.just(())),
    st.builds(RawAnswer, INT64, INT64, st.just(FAILED), st.just(NO_STATE), CAUSES),
    st.builds(
        RawMessage, INT64, INT64, INT32, INT64, INT32, st.booleans(), TEXT, st.binary(max_size=99)
    ),
    st.builds(RawNotice, INT64, TEXT, TEXT),
)


def chunk(content: bytes) -> bytes:
    """A length and so many bytes, as DataOutputStream writes them."""
    return struct.pack(">i", len(content)) + content


def text(content: str) -> bytes:
    return chunk(content.encode())


def written(entry: Entry) -> bytes:
    """What Outbox.java makes of an entry."""
    match entry:
        case RawAnswer(at_ns, tag, status, state, causes):
            head = struct.pack(">Bqqbb", ANSWER, at_ns, tag, status, state)
            rows = [(name, str(code), remark) for name, code, remark in causes]
            columns = zip(*rows, strict=True)
            texts = ["\0".join(column) for column in columns] or ["", "", ""]
            return head + b"".join(map(text, texts))
        case RawMessage(at_ns, tag, queue, offset, reconsumed, retried, broker, body):
            head = struct.pack(">Bqqiqi?", MESSAGE, at_ns, tag, queue, offset, reconsumed, retried)
            return head + text(broker) + chunk(body)
        case RawNotice(at_ns, kind, detail):
            return struct.pack(">Bq", NOTICE, at_ns) + text(kind) + text(detail)


@given(st.lists(ENTRIES))
def test_entries_are_read_in_the_written_order(put: list[Entry]) -> None:
    assert list(entries(b"".join(map(written, put)))) == put


@given(st.lists(ENTRIES, max_size=4))
def test_only_answers_that_are_all_send_ok_are_read_in_one_piece(put: list[Entry]) -> None:
    alike = all(
        isinstance(one, RawAnswer) and (one.status, one.state, one.causes) == (0, NO_STATE, ())
        for one in put
    )
    found = stored(b"".join(map(written, put)))
    assert (found is not None) == (alike and bool(put))


@given(st.lists(st.tuples(INT64, INT64), min_size=1))
def test_answers_in_one_piece_keep_their_tags_and_times(pairs: list[tuple[int, int]]) -> None:
    put = [RawAnswer(at_ns, tag, 0, NO_STATE, ()) for at_ns, tag in pairs]
    found = stored(b"".join(map(written, put)))
    assert found == (tuple(one.tag for one in put), tuple(one.at_ns for one in put))
