"""One message as it stands in a log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting import records as watched
from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.records import (
    BORN_V6,
    STORED_V6,
    Bad,
    Blank,
    Draft,
    Record,
    blank,
    host,
    inner,
    message_id,
    read,
    write,
)

V4, V6 = host(bytes((10, 0, 0, 1)), 10911), host(bytes(16), 10911)
_NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\x01\x02"), min_size=1, max_size=9
)
_DRAFTS = st.builds(
    Draft,
    topic=st.text("abcDEF-_%019", min_size=1, max_size=30),
    queue=st.integers(0, 1000),
    flag=st.integers(-(2**31), 2**31 - 1),
    sys_flag=st.sampled_from((0, 1, 8)),
    born_ms=st.integers(0, 2**60),
    born_host=st.just(V4),
    store_host=st.just(V4),
    body=st.binary(max_size=200),
    props_text=st.dictionaries(_NAMES, _NAMES, max_size=4).map(properties.write),
    reconsumed=st.integers(0, 20),
    prepared=st.integers(0, 2**60),
)
PLACES = st.integers(0, 2**60)


def draft(**more: object) -> Draft:
    fields: dict[str, object] = {
        "topic": "t",
        "queue": 1,
        "flag": 0,
        "sys_flag": 0,
        "born_ms": 5,
        "born_host": V4,
        "store_host": V4,
        "body": b"body",
        "props_text": "TAGS\x01a",
        **more,
    }
    return Draft(**fields)  # type: ignore[arg-type]


@given(_DRAFTS, PLACES, PLACES, PLACES)
def test_a_written_record_is_read_back(
    one: Draft, offset: int, position: int, stored: int
) -> None:
    octets = write(one, offset, position, stored)
    found = read(octets + b"more")
    assert isinstance(found, Record)
    assert (found.offset, found.position, found.stored_ms) == (offset, position, stored)
    assert all(getattr(found, name) == getattr(one, name) for name in Draft.__struct_fields__)


@given(_DRAFTS, PLACES, PLACES)
def test_the_reader_that_watches_servers_reads_the_same(
    one: Draft, offset: int, position: int
) -> None:
    seen = watched.read(write(one, offset, position, 9))
    assert (seen.topic, seen.queue, seen.offset, seen.position) == (
        one.topic,
        one.queue,
        offset,
        position,
    )
    assert (seen.body, seen.body_ok, dict(seen.properties)) == (one.body, True, one.properties)


def test_hosts_may_be_of_either_length() -> None:
    one = draft(born_host=V6, store_host=V6, sys_flag=BORN_V6 | STORED_V6)
    found = read(write(one, 0, 0, 1))
    assert isinstance(found, Record)
    assert (found.born_host, found.store_host) == (V6, V6)


def test_everything_empty_has_91_octets() -> None:
    assert len(write(draft(topic="", body=b"", props_text=""), 0, 0, 0)) == 91


@given(st.integers(0, 120))
def test_a_truncated_record_is_bad(count: int) -> None:
    octets = write(draft(), 0, 0, 0)
    assert isinstance(read(octets[: min(count, len(octets) - 1)]), Bad)


def test_a_changed_body_is_invalid_if_checksums_are_checked() -> None:
    octets = write(draft(), 0, 0, 0).replace(b"body", b"bodx")
    assert isinstance(read(octets), Bad)
    assert isinstance(read(octets, checked=False), Record)


def test_lengths_have_to_add_up() -> None:
    octets = bytearray(write(draft(), 0, 0, 0))
    octets[-7] = 99  # of the properties
    assert isinstance(read(bytes(octets)), Bad)


def test_zeros_are_no_record_and_blanks_fill_a_file() -> None:
    assert isinstance(read(bytes(100)), Bad)
    assert read(blank(77) + bytes(69)) == Blank(77)


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ("", 0),
        (None, 0),
        ("a", 97),
        ("TagA", 2598919),
        ("polygenelubricants", -(2**31)),
        ("é", 233),
    ],
)
def test_the_number_of_tags_is_javas_hash(tags: str | None, code: int) -> None:
    assert properties.tags_code(tags) == code


def test_properties_are_read_with_or_without_a_final_separator() -> None:
    for text in ("a\x01b\x02c\x01d", "a\x01b\x02c\x01d\x02"):
        assert properties.read(text) == {"a": "b", "c": "d"}
    assert properties.read("\x02x\x02\x01y\x02a\x01") == {}


def test_a_batch_is_its_messages() -> None:
    one = b"\0\0\0\x1b" + bytes(8) + b"\0\0\0\5\0\0\0\2hi\0\3a\1b"
    assert [*inner(one + one)] == [(5, b"hi", "a\x01b")] * 2


@pytest.mark.parametrize(
    "octets", [b"\0\0\0\x1b", b"\0\0\0\x1c" + bytes(8) + b"\0\0\0\5\0\0\0\2hi\0\3a\1b"]
)
def test_a_batch_that_does_not_add_up_is_none(octets: bytes) -> None:
    with pytest.raises(ValueError, match="batch"):
        [*inner(octets)]


def test_a_message_id_holds_the_brokers_address_and_position() -> None:
    assert message_id(V4, 255) == "0A000001" + "00002A9F" + "00000000000000FF"
