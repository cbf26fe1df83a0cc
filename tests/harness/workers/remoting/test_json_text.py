"""fastjson's maps with integer keys are read, and JSON stays what it is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting import json_text
from harness.workers.remoting.errors import WireError

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from('{,:"\\0123'), max_size=9
)
LEAVES = st.none() | st.booleans() | st.integers() | TEXT


def _maps(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    by_text = st.dictionaries(TEXT, values, max_size=3)
    by_number = st.dictionaries(st.integers(), values, max_size=3)
    return st.lists(values, max_size=3) | by_text | by_number


VALUES = st.recursive(LEAVES, _maps, max_leaves=12)


def _as_fastjson(value: Any, space: str) -> str:
    """Keys that are integers stand without quotes."""
    match value:
        case dict():
            pairs = (
                f"{space}{key if isinstance(key, int) else json.dumps(key)}{space}:"
                f"{_as_fastjson(one, space)}"
                for key, one in value.items()
            )
            return f"{{{','.join(pairs)}}}"
        case list():
            return f"[{space}{','.join(_as_fastjson(one, space) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)


@given(VALUES, st.sampled_from(["", " ", "\n\t"]))
def test_fastjson_output_is_read_with_textual_keys(value: Any, space: str) -> None:
    assert json_text.read(_as_fastjson(value, space).encode()) == json.loads(json.dumps(value))


@given(VALUES)
def test_strict_json_is_read_as_json(value: Any) -> None:
    text = json.dumps(value)
    assert json_text.read(text.encode()) == json.loads(text)


def test_a_string_that_looks_like_a_map_is_left_alone() -> None:
    assert json_text.read(rb'{"a":"{0:1,2:\"","1":2}') == {"a": '{0:1,2:"', "1": 2}


@pytest.mark.parametrize(
    "octets", [b"", b"{0:}", b"{0}", b"{a:1}", b"\xff", b'{"a"', b"[" * 100_000]
)
def test_text_that_is_neither_json_nor_fastjson_is_refused(octets: bytes) -> None:
    with pytest.raises(WireError):
        json_text.read(octets)


def test_a_json_list_is_no_object() -> None:
    with pytest.raises(WireError, match="not an object"):
        json_text.read_object(b"[1]")
