"""The parts of which the shapes of scenario files consist, mqproof's own and those of families.

1. An unknown key is an error: the user's verdict may depend on it.
2. Nothing is converted silently: `"3"` is no number.
3. A validator of words or lengths says what is valid, so that code that reads a file needs not
   know whose key it is.
"""

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from harness.plan import spans

T = TypeVar("T")
NO_WORD, NO_LENGTH = "no_word", "no_length"  # types of pydantic's errors that have `choices`


class Table(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def word(choices: tuple[str, ...]) -> Callable[[object], str]:
    """A validator: one of these words."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise PydanticCustomError(NO_WORD, "is none of the words", {"choices": choices})

    return read


def fixed_length(read: Callable[[object], T]) -> Callable[[object], T]:
    """A validator: a length in plain time, as `read` takes it; that raises ValueError."""

    def validated(value: object) -> T:
        try:
            return read(value)
        except ValueError as error:
            context = {"text": str(error), "choices": spans.FORMS_FIXED}
            raise PydanticCustomError(NO_LENGTH, "{text}", context) from None

    return validated
