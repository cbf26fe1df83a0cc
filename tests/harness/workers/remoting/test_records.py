"""Stored messages are read whole or refused, and their checksum is reported."""

import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting import records
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.records import MAGIC, MAGIC_LONG_TOPIC, Flags, StoredMessage
from tests.rigs.rocketmq.stored_messages import written

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
WORD = st.text(st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1)
ADDRESSES = st.ip_addresses()
PORTS = st.integers(0, 65535)


def _host(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@st.composite
def messages(draw: st.DrawFn) -> StoredMessage:
    born, store = str(draw(ADDRESSES)), str(draw(ADDRESSES))
    flags = draw(st.sampled_from([0, 1, 4, 8, 12])) | (Flags.BORN_HOST_V6 if ":" in born else 0)
    flags |= Flags.STORE_HOST_V6 if ":" in store else 0
    message = StoredMessage(
        topic=draw(st.text(st.characters(max_codepoint=127), min_size=1, max_size=127)),
        queue=draw(st.integers(0, 99)),
        offset=draw(INT64),
        position=draw(INT64),
        flag=draw(INT32),
        flags=flags,
        born_ms=draw(INT64),
        born_host=_host(born, draw(PORTS)),
        stored_ms=draw(INT64),
        store_host=_host(store, draw(PORTS)),
        reconsumed=draw(INT32),
        prepared_position=draw(INT64),
        properties=draw(st.dictionaries(WORD, WORD, max_size=4)),
        body=draw(st.binary(max_size=50)),
        body_ok=True,
        record_bytes=0,
    )
    return replace(message, record_bytes=len(written(message)))


@given(st.lists(messages(), max_size=4), st.booleans())
def test_adjacent_records_are_read_one_by_one(sent: list[StoredMessage], ended: bool) -> None:
    octets = b"".join(written(message, ended=ended) for message in sent)
    found = records.read_all(octets)
    assert [replace(one, record_bytes=0) for one in found] == [
        replace(one, record_bytes=0) for one in sent
    ]
    assert sum(one.record_bytes for one in found) == len(octets)


@given(messages(), st.data())
def test_a_record_that_is_cut_short_is_refused(
    message: StoredMessage, data: st.DataObject
) -> None:
    octets = written(message)
    with pytest.raises(WireError):
        records.read(octets[: data.draw(st.integers(0, len(octets) - 1))])


@given(st.binary(max_size=300))
def test_invalid_record_bytes_are_refused_without_a_crash(octets: bytes) -> None:
    head = struct.pack(">iI", len(octets) + 8, MAGIC)
    for nonsense in (octets, head + octets):
        try:
            records.read_all(nonsense)
        except WireError:
            continue


@given(messages(), st.data())
def test_a_body_with_one_wrong_bit_fails_its_checksum(
    message: StoredMessage, data: st.DataObject
) -> None:
    message = replace(message, body=message.body or b"x")
    octets = bytearray(written(message))
    tail = (
        len(message.topic.encode())
        + 1
        + len(written(message))
        - len(written(replace(message, properties={})))
        + 2
    )
    bit = data.draw(st.integers(0, len(message.body) * 8 - 1))
    octets[len(octets) - tail - len(message.body) + bit // 8] ^= 1 << bit % 8
    assert not records.read(bytes(octets)).body_ok


@given(messages())
def test_a_topic_of_rocketmq_5_may_exceed_a_signed_octet(
    message: StoredMessage,
) -> None:
    message = replace(message, topic="t" * 200)
    assert records.read(written(message, MAGIC_LONG_TOPIC)).topic == "t" * 200


def test_properties_are_read_with_and_without_a_last_separator() -> None:
    assert records.read_properties("KEYS\x01k\x02TAGS\x01red") == {"KEYS": "k", "TAGS": "red"}
    assert records.read_properties("KEYS\x01k\x02TAGS\x01red\x02") == {"KEYS": "k", "TAGS": "red"}
    assert records.read_properties("a\x02\x01b\x02c\x01\x02") == {}


def _packed(body: bytes, flags: int) -> StoredMessage:
    return StoredMessage("t", 0, 0, 0, 0, flags, 0, "", 0, "", 0, 0, {}, body, True, 0)


@pytest.mark.parametrize("kind", [0, 3], ids=["old clients", "zlib by number"])
def test_body_packed_by_a_client_is_returned_as_sent(kind: int) -> None:
    flags = Flags.COMPRESSED | kind << 8
    assert records.content(_packed(zlib.compress(b"hello"), flags)) == b"hello"


def test_a_body_that_was_not_packed_is_left_alone() -> None:
    assert records.content(_packed(b"hello", 3 << 8)) == b"hello"


@pytest.mark.parametrize(("kind", "words"), [(1, "type 1"), (2, "type 2"), (3, "no zlib")])
def test_a_body_that_cannot_be_unpacked_here_says_so(kind: int, words: str) -> None:
    with pytest.raises(WireError, match=words):
        records.content(_packed(b"hello", Flags.COMPRESSED | kind << 8))
