"""What is wrong in a TOML document, before it is known where that stands in its text.

1. A problem has a path in the document; `located` gives each its line, in the order of the text.
2. Mistakes that pydantic finds are put in the terms of TOML files: which keys there are, which
   words, a list, a table.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness.outside.text import brief
from harness.plan.files.shape_words import problem_of
from harness.plan.files.toml_lines import Path, describe, line, line_numbers
from harness.plan.problems import LISTED_MAX, PlanError, Problem, and_more, nearest

MISSING = "is missing"
FOUND_MAX = 500  # in one file; the search stops there
DOTS_MAX = 100  # in a line: a name of more parts is no key, and takes the parser long
_OF_KEY = "[key]"  # what pydantic adds to the path where a table's key itself is wrong
_BYTE_ORDER_MARK = "\ufeff"  # editors of Windows put it before a text
M = TypeVar("M", bound=BaseModel)
_TABLE = re.compile(r"^\s*(\[\[?)\s*([A-Za-z0-9_-]+)\s*\]")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")


@dataclass(frozen=True, slots=True)
class TomlProblem:
    """A problem at a path of the document."""

    path: Path
    text: str
    choices: tuple[str, ...] = ()
    guess: str = ""
    advice: str = ""


def document_of(source: str, file: str, shape: type[BaseModel] | None = None) -> dict[str, Any]:
    """Raises PlanError where the text is no TOML. `shape`: what says which tables are lists."""
    for number, text in enumerate(source.splitlines(), start=1):
        if text.count(".") > DOTS_MAX and _unquoted(text).count(".") > DOTS_MAX:
            problem = Problem(f"{file}, line {number}", f"has more than {DOTS_MAX} dots")
            raise PlanError([problem])
    try:
        return tomllib.loads(source.removeprefix(_BYTE_ORDER_MARK))
    except tomllib.TOMLDecodeError as error:
        again = _declared_again(source, file, _fields(shape))
        raise PlanError([again or Problem(file, f"this is not TOML: {error}")]) from None
    except RecursionError:
        raise PlanError([Problem(file, "it is nested too deeply")]) from None
    except ValueError:
        text = "a number in it has more digits than can be read"
        raise PlanError([Problem(file, text)]) from None


def _declared_again(source: str, file: str, shape: Mapping[str, Any]) -> Problem | None:
    """Return that a table stands there twice, and is not written as a list of tables."""
    seen: dict[str, str] = {}
    for number, text in enumerate(source.splitlines(), start=1):
        if (header := _TABLE.match(text)) is None:
            continue
        brackets, name = header[1], header[2]
        if name in seen and (brackets, seen[name]) != ("[[", "[["):
            what = f"this is not TOML: [{name}] is there twice"
            return Problem(f"{file}, line {number}", what, advice=_repeated(name, shape))
        seen[name] = brackets
    return None


def _repeated(name: str, shape: Mapping[str, Any]) -> str:
    """Return what to do about a table of that name that stands there twice."""
    if name in shape and get_origin(_bare(shape[name].annotation)) not in (list, tuple):
        return f"put all its keys under one [{name}]"
    return f"write [[{name}]], with two brackets, each time"


def validated(shape: type[M], source: str, file: str) -> M:
    """Return the document in a TOML text. Raise PlanError with everything that is wrong."""
    document = document_of(source, file, shape)
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        raise PlanError(located(of_shape(error, shape), source, file)) from None


def located(found: Iterable[TomlProblem], source: str, file: str) -> list[Problem]:
    """Return each problem with its line, in the order of lines; those without a line come first.

    At most FOUND_MAX are looked for; those that are not listed are counted.
    """
    gathered = list(islice(found, FOUND_MAX))
    if not gathered:
        return []
    lines = line_numbers(source.removeprefix(_BYTE_ORDER_MARK))
    ordered = sorted(gathered, key=lambda one: line(one.path, lines))
    problems = [
        Problem(
            describe(one.path, lines, file), one.text, one.choices, one.guess, advice=one.advice
        )
        for one in ordered[:LISTED_MAX]
    ]
    if rest := len(ordered) - LISTED_MAX if len(ordered) > LISTED_MAX else 0:
        problems.append(and_more(file, rest, at_least=len(ordered) == FOUND_MAX))
    return problems


def of_shape(errors: ValidationError, shape: type[BaseModel]) -> Iterator[TomlProblem]:
    """What `shape.model_validate` found. `shape` has its words as Literal."""
    found = errors.errors(include_url=False)
    for error in without_misspelt(found, lambda path: keys_at(shape, path)):
        # A list whose entries are wrong has too few right ones: that was reported already.
        if error["type"] != "too_short" or not error["input"]:
            yield _toml_problem(error, shape)


def without_misspelt(
    errors: Iterable[ErrorDetails], keys: Callable[[Path], tuple[str, ...]]
) -> list[ErrorDetails]:
    """Return the errors without missing keys that are only misspelt: these are reported already.

    `keys`: those that the table at a path may have.
    """
    found = list(errors)
    misspelt = {
        (*path[:-1], nearest(str(path[-1]), keys(path[:-1])))
        for path in (one["loc"] for one in found if one["type"] == "extra_forbidden")
    }
    return [one for one in found if one["type"] != "missing" or one["loc"] not in misspelt]


def one_table(path: Path, given: object) -> TomlProblem | None:
    """Return what is wrong if a list of tables is written as one table, `[fault]`."""
    if len(path) != 1 or not isinstance(given, dict):
        return None
    text = "is one table, and must be a list of tables"
    return TomlProblem(path, text, advice=f"write [[{path[0]}]], with two brackets")


def none_of(path: Path, given: object, choices: tuple[str, ...]) -> TomlProblem:
    """`given` is not a valid value that may stand at `path`."""
    text = f"{brief(given)} is not a valid value"
    guess = nearest(given, choices) if isinstance(given, str) else ""
    return TomlProblem(path, text, choices, guess)


def _toml_problem(error: ErrorDetails, shape: type[BaseModel]) -> TomlProblem:
    path: Path = tuple(part for part in error["loc"] if part != _OF_KEY)
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        choices = _keys(_at(shape, path[:-1]))
        return TomlProblem(path, "there is no such key", choices, nearest(str(path[-1]), choices))
    if kind == "literal_error":
        return none_of(path, given, _words(_at(shape, path)))
    if kind == "missing":
        return TomlProblem(path, MISSING, _words(_at(shape, path)))
    if kind == "value_error":
        return TomlProblem(path, str(error["ctx"]["error"]))
    if kind == "list_type" and (one := one_table(path, given)):
        return one
    if kind in ("too_short", "too_long"):
        return TomlProblem(path, problem_of(error))
    return TomlProblem(path, f"{problem_of(error)}, not {brief(given)}")


def keys_at(shape: type[BaseModel], path: Path) -> tuple[str, ...]:
    """The keys of the table at `path`; none where the shape says nothing of it."""
    return _keys(_at(shape, path))


def words_at(shape: type[BaseModel], path: Path) -> tuple[str, ...]:
    """The words that may stand at `path`, where the shape has them as Literal."""
    return _words(_at(shape, path))


def _at(shape: Any, path: Path) -> Any:
    """The annotation of what stands at `path`; None where the shape says nothing of it."""
    for part in path:
        shape = _within(shape, part)
    return _bare(shape)


def _within(shape: Any, part: int | str) -> Any:
    shape = _bare(shape)
    if fields := _fields(shape):
        field = fields.get(str(part))
        return field.annotation if field else None
    arguments = get_args(shape)
    if not arguments:
        return None
    return arguments[1] if get_origin(shape) in (dict, Mapping) else arguments[0]


def _bare(annotation: Any) -> Any:
    """Without what is annotated, and without the None of what may be left out."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        inner = [one for one in get_args(annotation) if one is not NoneType]
        return _bare(inner[0]) if len(inner) == 1 else annotation
    return annotation


def _fields(shape: Any) -> dict[str, Any]:
    is_table = isinstance(shape, type) and issubclass(shape, BaseModel)
    return dict(shape.model_fields) if is_table else {}


def _keys(shape: Any) -> tuple[str, ...]:
    return tuple(_fields(shape))


def _words(annotation: Any) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _unquoted(text: str) -> str:
    """A line without what stands in quotes, or is a comment."""
    return _QUOTED.sub("", text).partition("#")[0]
