"""What is wrong with a value, in plain words: none of Python's or pydantic's own."""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticKnownError

from harness.plan.files.shape_words import problem_of

FOREIGN = re.compile(r"input|pydantic|valid |string|integer|boolean|dict|tuple|instance", re.I)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    model_config = ConfigDict(strict=True)
    name: str


class File(BaseModel):
    """Every kind of value that our files have."""

    model_config = ConfigDict(extra="forbid", strict=True)
    number: int = 1
    share: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0
    count: Annotated[int, Field(ge=2, lt=9)] = 2
    flag: bool = True
    title: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$")] = "a"
    word: Literal["one", "two"] = "one"
    colour: Colour = Colour.RED
    names: Annotated[list[str], Field(min_length=1, max_length=2)] = ["a"]
    inner: Inner = Inner(name="x")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("number", "2", "must be a whole number"),
        ("number", 1.5, "must be a whole number"),
        ("share", "x", "must be a number"),
        ("share", 0, "must be more than 0"),
        ("share", 2, "must be at most 1"),
        ("share", float("inf"), "must be a finite number"),
        ("count", 1, "must be at least 2"),
        ("count", 9, "must be less than 9"),
        ("flag", "yes", "must be true or false"),
        ("title", 3, "must be text"),
        ("title", "", "must have at least 1 character"),
        ("title", "aaaaaa", "must have at most 5 characters"),
        ("title", "A", "must match ^[a-z]+$"),
        ("word", "three", "must be 'one' or 'two'"),
        ("names", [], "must have 1 entries at least, not 0"),
        ("names", ["a", "b", "c"], "must have 2 entries at most, not 3"),
        ("names", "a", "must be a list"),
        ("inner", 3, "must be a table"),
        ("inner", {}, "is missing"),
        ("other", 3, "there is no such key"),
    ],
)
def test_a_problem_is_reported_in_plain_words(key: str, value: Any, problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        File.model_validate({key: value})
    (error,) = raised.value.errors()
    assert problem_of(error) == problem
    assert not FOREIGN.search(problem)


def test_unknown_kind_is_reported_without_foreign_terms() -> None:
    known = PydanticKnownError("time_delta_type")
    error: Any = {"type": known.type, "msg": known.message(), "loc": (), "input": 3}
    assert problem_of(error) == "is not of the expected form"
