"""PURE: what is wrong with a value in a file, in the words of people who write files.

The names of Python's types, and pydantic's own sentences, appear in no message.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harness.plan.problems import Problem, and_more

PROBLEMS_MAX = 5  # of one file: the rest is mostly the same again

_PLAIN = {
    "missing": "is missing",
    "extra_forbidden": "there is no such key",
    "finite_number": "must be a finite number",
    "json_invalid": "is not JSON",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("int_parsing_size",), "has too many digits"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("string_type", "string_unicode", "string_sub_type"), "must be text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be a table"),
}
_LIMITED: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than": lambda limits: f"must be more than {limits['gt']:g}",
    "greater_than_equal": lambda limits: f"must be at least {limits['ge']:g}",
    "less_than": lambda limits: f"must be less than {limits['lt']:g}",
    "less_than_equal": lambda limits: f"must be at most {limits['le']:g}",
    "string_too_short": lambda limits: f"must have at least {_characters(limits['min_length'])}",
    "string_too_long": lambda limits: f"must have at most {_characters(limits['max_length'])}",
    "string_pattern_mismatch": lambda limits: f"must match {limits['pattern']}",
    "too_short": lambda limits: (
        f"must have {limits['min_length']} entries at least, not {limits['actual_length']}"
    ),
    "too_long": lambda limits: (
        f"must have {limits['max_length']} entries at most, not {limits['actual_length']}"
    ),
    "literal_error": lambda limits: f"must be {limits['expected']}",
    "enum": lambda limits: f"must be {limits['expected']}",
    "value_error": lambda limits: str(limits["error"]),
}


def problems_of(error: ValidationError, file: str) -> Iterator[Problem]:
    """Yield what is wrong in a JSON document: the first PROBLEMS_MAX, and how many more."""
    for one in error.errors(include_url=False)[:PROBLEMS_MAX]:
        place = ".".join(str(part) for part in one["loc"])
        yield Problem(f"{file}, {place}" if place else file, problem_of(one))
    if error.error_count() > PROBLEMS_MAX:
        yield and_more(file, error.error_count() - PROBLEMS_MAX)


def problem_of(error: ErrorDetails) -> str:
    """Return what is wrong: `must be a whole number`."""
    kind = error["type"]
    if kind in _LIMITED:
        return _LIMITED[kind](error["ctx"])
    return _PLAIN.get(kind, "is not of the expected form")


def _characters(number: int) -> str:
    return f"{number:,} character{'' if number == 1 else 's'}"
