"""The parts of the shapes of scenario files, mqproof's own and those of families.

1. An unknown key is an error: the user's verdict may depend on it.
2. Nothing is converted silently: `"3"` is no number.
3. A validator of words or lengths says what is valid, so that code that reads a file needs not
   know whose key it is.
4. `description` of a field is its text in docs/keys.md, `title` names its values if the type does
   not, `examples` has the default as TOML writes it if the type does not show that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from harness.plan.files import spans

T = TypeVar("T")
NO_WORD, NO_LENGTH = "no_word", "no_length"  # types of pydantic's errors that have `choices`


class Table(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A validator: one of these words."""

    choices: tuple[str, ...]

    def __call__(self, value: object) -> str:
        if isinstance(value, str) and value in self.choices:
            return value
        raise PydanticCustomError(NO_WORD, "is not a valid value", {"choices": self.choices})


def fixed_length(read: Callable[[object], T]) -> Callable[[object], T]:
    """A validator: a length in plain time, as `read` takes it; that raises ValueError."""

    def validated(value: object) -> T:
        try:
            return read(value)
        except ValueError as error:
            context = {"text": str(error), "choices": spans.FORMS_FIXED}
            raise PydanticCustomError(NO_LENGTH, "{text}", context) from None

    return validated
