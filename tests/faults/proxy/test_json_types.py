"""Records: defaults, wrong types, and that an error keeps nothing."""

import pytest

from faults.proxy.json_text import JsonError, read
from faults.proxy.json_types import Record, read_record, read_records

INNER = Record("Inner", "p.Inner", {"size": "int64"})
OUTER = Record(
    "Outer",
    "p.Outer",
    {"name": "string", "on": "bool", "share": "float32", "count": "int", "inner": INNER},
)


def test_a_missing_field_has_the_callers_default() -> None:
    fields = read_record(read(b'{"name":"n","inner":{"size":-3}}'), OUTER)
    assert (fields.text("name"), fields.integer("inner.size", 9)) == ("n", -3)
    assert (fields.flag("on", True), fields.fraction("share", 0.5)) == (True, 0.5)
    assert fields.integer("count", 4) == 4


def test_the_first_wrong_type_in_the_text_is_the_error() -> None:
    with pytest.raises(JsonError, match=r"string into Go struct field Inner\.inner\.size of type"):
        read_record(read(b'{"inner":{"size":"x"},"name":3}'), OUTER)
    with pytest.raises(JsonError, match=r"number into Go struct field Outer\.name of type string"):
        read_record(read(b'{"name":3,"inner":{"size":"x"}}'), OUTER)


@pytest.mark.parametrize("text", ["1.0", "1e2", "9223372036854775808"])
def test_a_number_too_large_is_reported_with_its_digits(text: str) -> None:
    with pytest.raises(JsonError, match=f"number {text} into"):
        read_record(read(f'{{"count":{text}}}'.encode()), OUTER)


def test_records_of_an_array_each_stand_alone() -> None:
    first, second = read_records(read(b'[{"name":"a"},null]'), OUTER)
    assert (first.text("name"), second.text("name", "none")) == ("a", "none")
