"""Elementary types and tables, against their own octets and a library's."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pamqp import decode as pamqp_decode

from reference_impl.amqp.codec.wire import (
    FrameError,
    read_fields,
    read_table,
    table,
    write_fields,
)

TYPES = ("octet", "short", "long", "longlong", "shortstr", "longstr", "bit", "table")

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.text(max_size=20),
    st.floats(allow_nan=False),
)
_keys = st.text(max_size=20).filter(lambda key: len(key.encode()) < 128)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=12,
)
tables = st.dictionaries(_keys, _values, max_size=5)


@given(tables)
def test_a_table_is_read_as_it_was_written(fields: dict[str, object]) -> None:
    octets = table(fields)
    assert read_table(octets, 0) == (fields, len(octets))


@given(tables)
def test_another_library_reads_our_tables(fields: dict[str, object]) -> None:
    assert pamqp_decode.field_table(table(fields))[1] == fields


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (b"t\x01", True),
        (b"b\xff", -1),
        (b"B\xff", 255),
        (b"s\xff\xfe", -2),
        (b"u\xff\xfe", 65_534),
        (b"I\xff\xff\xff\xfe", -2),
        (b"i\xff\xff\xff\xfe", 4_294_967_294),
        (b"l" + b"\xff" * 8, -1),
        (b"L" + b"\xff" * 8, -1),
        (b"f\x3f\xc0\0\0", 1.5),
        (b"d\x3f\xf8" + b"\0" * 6, 1.5),
        (b"D\x02\x00\x00\x01\x3b", Decimal("3.15")),
        (b"S\0\0\0\x02ab", "ab"),
        (b"S\0\0\0\x02\xff\xfe", b"\xff\xfe"),
        (b"x\0\0\0\x02ab", b"ab"),
        (b"A\0\0\0\x04t\x00t\x01", [False, True]),
        (b"T" + b"\0" * 7 + b"\x07", 7),
        (b"F\0\0\0\x03\x01kV", {"k": None}),
        (b"V", None),
    ],
)
def test_every_type_that_rabbitmq_accepts_is_read(field: bytes, value: object) -> None:
    fields = b"\x01k" + field
    octets = len(fields).to_bytes(4, "big") + fields
    read, end = read_table(octets, 0)
    assert read == {"k": value}
    assert type(read["k"]) is type(value)
    assert end == len(octets)


@given(st.lists(st.sampled_from(TYPES), min_size=1, max_size=8), st.binary(max_size=60))
def test_arbitrary_octets_raise_nothing_but_a_frame_error(types: list[str], octets: bytes) -> None:
    try:
        values = read_fields(types, octets, 0)
    except FrameError:
        return
    assert len(values) == len(types)


def test_eight_bits_share_an_octet_and_the_ninth_starts_another() -> None:
    bits = [False, True] + [False] * 6 + [True]
    octets = write_fields(["bit"] * 9, bits)
    assert octets == b"\x02\x01"
    assert read_fields(["bit"] * 9, octets, 0) == bits


def test_tables_that_are_nested_without_end_are_refused() -> None:
    octets = b"\0\0\0\0"
    for _ in range(200):
        inner = b"\x01kF" + octets
        octets = len(inner).to_bytes(4, "big") + inner
    with pytest.raises(FrameError):
        read_table(octets, 0)


def test_a_string_that_reaches_beyond_its_frame_is_refused() -> None:
    with pytest.raises(FrameError):
        read_fields(["shortstr"], b"\x05abc", 0)


@pytest.mark.parametrize("kind", [b"F", b"A"])
def test_a_field_that_reaches_beyond_its_table_is_refused(kind: bytes) -> None:
    inner = b"\x01kI\0\0" if kind == b"F" else b"I\0\0"
    fields = b"\x01t" + kind + len(inner).to_bytes(4, "big") + inner + b"\x01uV"
    with pytest.raises(FrameError):
        read_table(len(fields).to_bytes(4, "big") + fields, 0)
