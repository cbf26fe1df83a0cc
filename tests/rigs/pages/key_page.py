"""The documentation's page of keys, as Markdown: every key of every TOML file that users write.

`python -m tests.rigs.pages.key_page > docs/keys.md` generates the page; a test compares.

1. The models are the source: fields have the texts, the limits and the defaults.
2. Systems whose layout files, or topology files, have the same shape share one section.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from harness.plan.clients.registry import registry as clients
from harness.plan.files import spans
from harness.plan.files.shape import ScenarioTable
from harness.plan.files.spans import Duration
from harness.plan.files.tables import OneOf
from harness.plan.workload import BootstrapAddress
from harness.report import markdown
from harness.systems.registry import registry as systems
from harness.view.grouping import by_key
from tests.rigs.pages.names import code

_HEAD = """\
# Every key of the files that you write

*Made by `python -m tests.rigs.pages.key_page > docs/keys.md`; a test compares.*

The default "none" means that the key is left out. A length of time is a text with a unit:
`250 ms`, `10 s`, `2 min`. If it is "also in T", it may count detection timeouts of the layout:
`1.5 T`, or `1.5 T, at least 15 s`.
"""
_SCENARIO = """\
## A scenario

[scenarios.md](scenarios.md) explains scenarios and has a complete file. Of the sections
`[workload.FAMILY]` only that of the client's family applies. The manifest names those ignored.
"""
_LAYOUT = """\
## A layout of {systems}

With `like = "NAME"` a key that the file leaves out has its value in that built-in layout. `name`
and `title` are always the file's own.
"""
_TOPOLOGY = """\
## A topology file of {systems}

[external.md](external.md) explains topology files and has a complete one.
"""
Model = type[BaseModel]
Nested = Mapping[str, Model]  # tables that other declarations add, by their paths


def page() -> str:
    every = systems().systems
    sections = {f"workload.{key}": one.shape for key, one in clients().sections.items()}
    layouts = ((name, one.layout_file) for name, one in every.items())
    topologies = ((name, one.foreign.shape.file) for name, one in every.items() if one.foreign)
    parts = [_HEAD, _SCENARIO, *tables(ScenarioTable, sections)]
    for text, models in ((_LAYOUT, layouts), (_TOPOLOGY, topologies)):
        shown = ((name, tuple(tables(model))) for name, model in sorted(models, key=itemgetter(0)))
        for keys, found in by_key(shown, itemgetter(1)).items():
            names = " and ".join(f"`{name}`" for name, _ in found)
            parts += [text.format(systems=names), *keys]
    return "\n".join(parts)


def tables(model: Model, added: Nested | None = None) -> Iterator[str]:
    """Yield the model's keys and, below them, those of each table in it."""
    more = ((path, each, False) for path, each in (added or {}).items())
    for each, places in by_key([*_nested(model, "", False), *more], itemgetter(1)).items():
        yield f"### {', '.join(_heading(path, repeated) for path, _, repeated in places)}\n"
        yield from markdown.head("key", "values", "default", "meaning")
        yield "".join(f"{_row(key, field)}\n" for key, field in each.model_fields.items())


def values(field: FieldInfo) -> str:
    """Return what a key may be: its title, its words, its limits, or its type."""
    if field.title:
        return field.title
    table, repeated = _table_in(field.annotation)
    if table is not None:
        return "tables" if repeated else "table"
    return _of_type(field.annotation, field.metadata)


def default(field: FieldInfo) -> str:
    """Return the default as TOML writes it."""
    if field.is_required():
        return "required"
    if field.examples:
        return f"`{field.examples[0]}`"
    match field.default:
        case BaseModel():
            return "its defaults"
        case bool():
            return f"`{str(field.default).lower()}`"
        case Duration():
            return f"`{spans.text(field.default)}`"
        case BootstrapAddress(target=target):
            return f"`{target}`"
        case float() if field.default:
            return f"`{field.default:g} s`"
        case int() if all(limit.ge <= field.default for limit in _of(Ge, field.metadata)):
            return f"`{field.default}`"
        case [str(word)] | str(word) if word:
            return f"`{word}`"
    return "none"


def _nested(model: Model, path: str, repeated: bool) -> Iterator[tuple[str, Model, bool]]:
    yield path, model, repeated
    for key, field in model.model_fields.items():
        table, many = _table_in(field.annotation)
        if table is not None:
            named = ".NAME" if get_origin(field.annotation) in (dict, Mapping) else ""
            name = f"{path}.{key}{named}".lstrip(".")
            yield from _nested(table, name, many and not named)


def _heading(path: str, repeated: bool) -> str:
    return f"`[[{path}]]`" if repeated else f"`[{path}]`" if path else "Top level"


def _row(key: str, field: FieldInfo) -> str:
    assert field.description, f"{key}: no description"
    return f"| `{key}` | {values(field)} | {default(field)} | {field.description} |"


def _table_in(annotation: Any) -> tuple[Model | None, bool]:
    """Return the table that a type is or has, and whether it has several."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    for each in get_args(annotation):
        table, _ = _table_in(each)
        if table is not None:
            return table, get_origin(annotation) not in (UnionType, Union)
    return None, False


def _of_type(annotation: Any, metadata: Iterable[Any]) -> str:
    parts = (one.metadata if isinstance(one, FieldInfo) else (one,) for one in metadata)
    metadata = [one for several in parts for one in several]
    functions = (one.func for one in _of(BeforeValidator, metadata))
    words = [one.choices for one in functions if isinstance(one, OneOf)]
    if get_origin(annotation) is Annotated:
        return _of_type(annotation.__origin__, annotation.__metadata__)
    if get_origin(annotation) in (UnionType, Union):
        (only,) = (each for each in get_args(annotation) if each is not NoneType)
        return _of_type(only, metadata)
    if get_origin(annotation) is Literal:
        words = [get_args(annotation)]
    if words:
        return code(words[0])
    if annotation is bool:
        return "`true`, `false`"
    if get_origin(annotation) in (list, tuple):
        return f"list of {_of_type(get_args(annotation)[0], ())}s".replace("`s", "`")
    limits = [limit.ge for limit in _of(Ge, metadata)] + [one.le for one in _of(Le, metadata)]
    return " to ".join(f"{limit:,}".removesuffix(".0") for limit in limits) or "text"


def _of(kind: type, metadata: Iterable[Any]) -> list[Any]:
    return [one for one in metadata if isinstance(one, kind)]


if __name__ == "__main__":
    print(page(), end="")
