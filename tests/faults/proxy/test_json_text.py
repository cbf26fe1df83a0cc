"""JSON as Go reads and writes it. Its words for what is wrong are the contract's matter."""

import contextlib
import json
import math
import re
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.proxy.json_text import DEPTH_MAX, JsonError, Number, Object, Value, read, write

documents: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def plain(value: Value) -> object:
    """As Python's own reader would have it."""
    match value:
        case Number(text=text):
            return int(text) if text.lstrip("-").isdigit() else float(text)
        case Object(fields=fields):
            return {key: plain(one) for key, one in fields}
        case list():
            return [plain(one) for one in value]
        case _:
            return value


@settings(deadline=None)
@given(documents, st.booleans())
def test_json_written_by_python_is_read(document: Any, ascii_only: bool) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=1).encode()
    assert plain(read(text)) == document


@settings(deadline=None)
@given(documents)
def test_written_json_is_read_by_python(document: Any) -> None:
    text = write(document)
    assert json.loads(text) == document
    assert not set("<>&\u2028\u2029\n") & set(text)


@settings(deadline=None)
@given(documents, st.data())
def test_a_truncated_text_is_reported_as_truncated(document: Any, draw: st.DataObject) -> None:
    text = json.dumps([document])
    end = draw.draw(st.integers(0, len(text) - 1))
    with pytest.raises(JsonError, match="EOF"):
        read(text[:end].encode())


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:truefalsn0123.-+eE\\ \n', max_size=12))
def test_the_json_reader_accepts_exactly_what_python_accepts(text: str) -> None:
    try:
        expected, _ = json.JSONDecoder().raw_decode(text.lstrip(" \n"))
    except ValueError:
        with pytest.raises(JsonError):
            read(text.encode())
    else:
        try:
            seen = plain(read(text.encode()))
        except JsonError as error:
            # Python stops a number before what cannot be part of it. Go reads on, and objects.
            assert re.search("numeric literal|EOF", str(error))  # noqa: PT017
        else:
            assert seen == expected


@settings(deadline=None)
@given(st.binary(max_size=30))
def test_no_bytes_crash_it(octets: bytes) -> None:
    with contextlib.suppress(JsonError):
        read(octets)


def test_depth_costs_no_stack_and_has_a_limit() -> None:
    assert read(b"[" * DEPTH_MAX + b"]" * DEPTH_MAX) is not None
    with pytest.raises(JsonError, match="exceeded max depth"):
        read(b"[" * (DEPTH_MAX + 1))


@settings(deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_written_float_is_the_same_32_bits(value: float) -> None:
    again = struct.unpack("f", struct.pack("f", float(write(value))))[0]
    assert (again, math.copysign(1, again)) == (value, math.copysign(1, value))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.1, "0.1"), (7.5, "7.5"), (1e20, "100000000000000000000"), (1e-7, "1e-7")],
)
def test_a_float_is_written_as_short_as_it_can_be(value: float, text: str) -> None:
    assert write(value) == text
