"""A fault's options in a scenario: keys and values, as its kind declares them."""

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from faults.core.kind import Kind
from faults.core.options import FaultOptions, Option
from faults.kinds import OPTIONS
from harness.plan.files import spans
from harness.plan.files.tables import OneOf, Seconds

LENGTHS = {option.key for option in OPTIONS.values() if option.is_length}


def keys() -> dict[str, Any]:
    """Return the fields of the table of any kind: all keys that some kind takes."""
    return {key: (_type(option), _field(option)) for key, option in OPTIONS.items()}


def options_of(kind: Kind, values: Mapping[str, Any]) -> FaultOptions:
    """Return the options of a fault. `values`: by their keys, as the table's shape has them; None
    where a key is absent."""
    found = kind.options.by_field().items()
    given = {field: values.get(one.key) for field, one in found}
    return kind.options(**{field: value for field, value in given.items() if value is not None})


def limit_problem(option: Option, value: object) -> str:
    """Return why a length or a number is too small or too large. What is neither is left to the
    shape."""
    try:
        amount = value if isinstance(value, int) else spans.parse_seconds(value)
    except ValueError:
        return ""
    if option.choices or option.least <= amount <= option.most:
        return ""
    unit = " s" if option.is_length else ""
    if option.most == inf:
        return f"must be at least {option.least:g}{unit}"
    numbers = (
        f"{one:g}" if option.is_length else f"{one:,}" for one in (option.least, option.most)
    )
    return f"must be from {' to '.join(numbers)}{unit}"


def _type(option: Option) -> Any:
    if option.choices:
        return Annotated[str, BeforeValidator(OneOf(option.choices))]
    return Seconds if option.is_length else int


def _field(option: Option) -> Any:
    """fault_table.py checks limits, for the kinds alone that take the option."""
    whole = not option.choices and not option.is_length
    said: dict[str, Any] = {"default": option.default or None, "description": option.meaning}
    if whole:
        said["title"] = f"{option.least:,.0f} to {option.most:,.0f}"
    return Field(**said)
