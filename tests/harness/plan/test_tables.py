"""Tables of files that are read in part, so that all problems are reported at once."""

from typing import Annotated, Literal

import pytest
from pydantic import BeforeValidator, Field, ValidationError

from harness.plan.files.tables import OneOf, Table


class InnerTable(Table):
    size: int = Field(ge=1)
    word: Annotated[str, BeforeValidator(OneOf(("a", "b")))] = "a"


class OuterTable(Table):
    count: int = Field(ge=1, le=9)
    mode: Literal["x", "y"] = "x"
    names: list[Annotated[str, Field(pattern="^[a-z]+$")]] = Field(default=[])
    entry: InnerTable
    entries: list[InnerTable] = Field(default=[], max_length=2)
    more: InnerTable | None = None
    fixed: Annotated[tuple[InnerTable, ...], Field(max_length=2, strict=False)] = ()
    named: dict[str, InnerTable] = Field(default={})


def test_a_table_without_mistakes_is_read_as_its_shape_reads_it() -> None:
    given = {"count": 3, "entry": {"size": 2}, "entries": [{"size": 1, "word": "b"}]}
    assert dict(OuterTable.readable(given)) == dict(OuterTable.model_validate(given))
    assert OuterTable.readable(given).entries[0].given == {"size": 1, "word": "b"}


def test_keys_that_cannot_be_read_are_none_and_hide_no_other_key() -> None:
    found = OuterTable.readable({"count": "3", "mode": "z", "other": 1, "entry": {"word": "b"}})
    assert (found.count, found.mode, found.names) == (None, None, [])
    assert (found.entry.size, found.entry.word) == (None, "b")
    assert set(found.given) == {"count", "mode", "other", "entry"}


@pytest.mark.parametrize("given", [None, 5, [], {}])
def test_of_what_is_no_table_only_defaults_are_read(given: object) -> None:
    found = OuterTable.readable(given)
    assert (found.count, found.mode, found.given) == (None, "x", {})
    assert (found.entry.size, found.entry.word) == (None, "a")


def test_values_of_the_right_type_are_kept_beyond_their_limits() -> None:
    given = {"count": 100, "names": ["a", "B"], "entry": {"size": 0}}
    found = OuterTable.readable(given)
    assert (found.count, found.names, found.entry.size) == (100, ["a", "B"], 0)
    with pytest.raises(ValidationError):
        OuterTable.model_validate(given)


def test_tables_of_a_list_keep_their_places_and_too_many_are_left_out() -> None:
    found = OuterTable.readable({"entries": [7, {"size": 4}]})
    assert [one.size for one in found.entries] == [None, 4]
    assert OuterTable.readable({"entries": [{"size": 4}] * 3}).entries == []


def test_tables_of_a_tuple_and_of_a_mapping_are_read_in_part_even_if_there_are_too_many() -> None:
    found = OuterTable.readable({"fixed": [{"size": 0}, 7, {"size": 4}], "named": {"a": {}}})
    assert [one.size for one in found.fixed] == [0, None, 4]
    assert [(name, one.size) for name, one in found.named.items()] == [("a", None)]
    unreadable = OuterTable.readable({"fixed": 7, "named": []})
    assert (unreadable.fixed, unreadable.named) == ((), {})


def test_a_table_that_may_be_left_out_is_none_or_read_in_part() -> None:
    assert OuterTable.readable({}).more is None
    found = OuterTable.readable({"more": {"size": "4", "word": "b"}}).more
    assert found is not None
    assert (found.size, found.word) == (None, "b")
