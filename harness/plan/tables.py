"""What the shapes of scenario files are made of: everybody's, and those of clients' families.

1. A key that is not known is an error: it may hold what the user's verdict hangs on.
2. Nothing is converted silently: `"3"` is no number.
3. A validator of words or of lengths tells what would be right, so that whoever reads a file needs
   not know whose key it is.
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
            told = {"text": str(error), "choices": spans.FORMS_FIXED}
            raise PydanticCustomError(NO_LENGTH, "{text}", told) from None

    return validated
