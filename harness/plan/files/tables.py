"""The parts of the shapes of scenario files, mqproof's own and those of families, and of topology
and layout files.

1. An unknown key is an error: the user's verdict may depend on it.
2. Nothing is converted silently: `"3"` is no number.
3. A validator of words or lengths says what is valid, so that code that reads a file needs not
   know whose key it is.
4. `description` of a field is its text in docs/keys.md, `title` names its values if the type does
   not, `examples` has the default as TOML writes it if the type does not show that.
5. All problems of a file are reported at once. So a table can be read although some keys are wrong
   (`readable`), and checks of several keys together work on its typed fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Self, TypeGuard, TypeVar, Union, get_args, get_origin

from annotated_types import MaxLen
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from harness.plan.files import spans
from harness.plan.files.spans import Duration

T = TypeVar("T")
_UNIONS = (Union, UnionType)
NO_WORD, NO_LENGTH = "no_word", "no_length"  # types of pydantic's errors that have `choices`
# Errors of a value whose type is right.
_OF_LIMITS = (
    *("greater_than", "greater_than_equal", "less_than", "less_than_equal"),
    *("string_too_long", "string_pattern_mismatch", "too_short"),
)
_ENTRIES_MAX = 64  # of a tuple of tables; the shape reports that there are more


class Table(BaseModel):
    """A table of a scenario, topology or layout file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    _given: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_given(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        found = handler(given)
        found._given = given if isinstance(given, dict) else {}
        return found

    @property
    def given(self) -> Mapping[str, Any]:
        """Return the keys that the file has, with their values as they are written."""
        return self._given

    @classmethod
    def readable(cls, given: object) -> Self:
        """Return what can be read of a table, for checks of several keys together.

        A value of the right type is kept even if it is beyond its limits. A key that cannot be
        read, or is missing and has no default, is None, whatever the type of the field says; a
        table that is missing is read as an empty one.
        """
        written = given if isinstance(given, dict) else {}
        values = {
            name: _readable(field, written.get(name))
            for name, field in cls.model_fields.items()
            if name in written or field.is_required()
        }
        found = cls.model_construct(**values)
        found._given = written
        return found


def _readable(field: FieldInfo, given: object) -> Any:
    """Return the value of one key; None if it cannot be read, no tables if it should have some."""
    shape = _without_none(field.annotation)
    if given is None and shape is not field.annotation:
        return None
    if _is_table(shape):
        return shape.readable(given)
    kind, parts = get_origin(shape), get_args(shape)
    listed = given if isinstance(given, list) else []
    if kind is list and _is_table(parts[0]):
        limits = (one.max_length for one in field.metadata if isinstance(one, MaxLen))
        few = len(listed) <= min(limits, default=inf)
        return [parts[0].readable(one) for one in listed] if few else []
    if kind is tuple and _is_table(parts[0]):
        return tuple(parts[0].readable(one) for one in listed[:_ENTRIES_MAX])
    if kind in (dict, Mapping) and _is_table(parts[1]):
        named = given if isinstance(given, dict) else {}
        return {name: parts[1].readable(one) for name, one in named.items()}
    alone: Any = create_model(
        "_Alone", __config__=Table.model_config, value=(field.rebuild_annotation(), ...)
    )
    try:
        return alone.model_validate({"value": given}).value
    except ValidationError as wrong:
        return given if all(one["type"] in _OF_LIMITS for one in wrong.errors()) else None


def _is_table(shape: object) -> TypeGuard[type[Table]]:
    return isinstance(shape, type) and issubclass(shape, Table)


def _without_none(annotation: Any) -> Any:
    """Return the table of a key that may be left out; anything else as it is."""
    shapes = [one for one in get_args(annotation) if one is not NoneType]
    alone = shapes[0] if len(shapes) == 1 and get_origin(annotation) in _UNIONS else None
    return alone if _is_table(alone) else annotation


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


Length = Annotated[
    Duration, BeforeValidator(spans.parse), Field(title="length of time, also in T")
]
Seconds = Annotated[float, BeforeValidator(spans.parse_seconds), Field(title="length of time")]
