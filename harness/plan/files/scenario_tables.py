"""A scenario's document by its shape: its tables, or all that is wrong with each.

1. A section of `[workload]` is read by the shape that its family of clients declares. If no family
   declares it, it is an unknown key.
2. Each table is read even if others are wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harness.outside.text import brief
from harness.plan.clients.section import Sections
from harness.plan.files import fault_options, spans, tables
from harness.plan.files.shape import PhasesTable, ScenarioTable
from harness.plan.files.shape_words import problem_of
from harness.plan.files.tables import Table
from harness.plan.files.targets import CLIENT_FORMS, ENDPOINT_FORMS, TARGET_FORMS, meant
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import (
    MISSING,
    TomlProblem,
    keys_at,
    none_of,
    one_table,
    without_misspelt,
    words_at,
)
from harness.plan.problems import nearest

T = TypeVar("T", bound=Table)
FIXED = {"deadline", *fault_options.LENGTHS}  # lengths in plain time
_TABLES = ("workload", "phases")  # that a scenario has once
LENGTHS = {"opens", "lasts", "at", *FIXED, *PhasesTable.model_fields}


@dataclass(frozen=True, slots=True)
class Read:
    """`scenario` is None, and sections are missing, where something is wrong with them; what can
    be read of them all the same is `readable`."""

    scenario: ScenarioTable | None
    sections: Mapping[str, Table]  # those that the document has
    readable: ScenarioTable
    readable_sections: Mapping[str, Table]
    wrong: Iterator[TomlProblem]  # only once, and as far as somebody asks: there may be thousands

    def values(self, sections: Sections) -> dict[str, Any]:
        """What the sections say, by their families' keys."""
        assert self.scenario is not None, "nothing was read"
        confirms = self.scenario.workload.confirms
        return {key: sections[key].value(table, confirms) for key, table in self.sections.items()}


def read(document: dict[str, Any], sections: Sections) -> Read:
    general, own = _apart(document, sections)
    scenario, errors = _read(ScenarioTable, general)
    found: dict[str, Table] = {}
    readable: dict[str, Table] = {}
    for key, given in own.items():
        table, mistakes = _read(sections[key].shape, given, ("workload", key))
        errors += mistakes
        if table is not None:
            found[key] = table
        if isinstance(given, dict):
            readable[key] = table or sections[key].shape.readable(given)
    errors = without_misspelt(errors, lambda path: _keys(path, sections))
    problems = (_toml_problem(error, sections) for error in errors)
    return Read(scenario, found, scenario or ScenarioTable.readable(general), readable, problems)


def _apart(
    document: dict[str, Any], sections: Sections
) -> tuple[dict[str, Any], dict[str, object]]:
    """What is everybody's, and the sections of clients' families by their keys."""
    workload = document.get("workload")
    if not isinstance(workload, dict):
        return document, {}
    own = {key: value for key, value in workload.items() if key in sections}
    general = {key: value for key, value in workload.items() if key not in sections}
    return {**document, "workload": general}, own


def _read(shape: type[T], given: object, place: Path = ()) -> tuple[T | None, list[ErrorDetails]]:
    """A table, or all that is wrong with it."""
    try:
        return shape.model_validate(given), []
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False)
        return None, [{**error, "loc": (*place, *error["loc"])} for error in errors]


def _toml_problem(error: ErrorDetails, sections: Sections) -> TomlProblem:
    path: Path = error["loc"]
    given = error["input"]
    match error["type"]:
        case "extra_forbidden":
            return _unknown(path, sections)
        case "missing":
            return TomlProblem(path, MISSING, _choices(path, sections))
        case "literal_error":
            return none_of(path, given, _choices(path, sections))
        case tables.NO_WORD:
            return none_of(path, given, tuple(error["ctx"]["choices"]))
        case tables.NO_LENGTH:
            return TomlProblem(path, error["ctx"]["text"], tuple(error["ctx"]["choices"]))
        case "value_error":
            choices = _choices(path, sections)
            guess = meant(given, choices) if isinstance(given, str) else ""
            return TomlProblem(path, str(error["ctx"]["error"]), choices, guess)
        case "list_type" if (one := one_table(path, given)) is not None:
            return one
        case "too_long" | "too_short" if isinstance(given, list):
            return TomlProblem(path, problem_of(error))
        case _:
            return TomlProblem(path, f"{problem_of(error)}, not {brief(given)}")


def _unknown(path: Path, sections: Sections) -> TomlProblem:
    choices, key, text = _keys(path[:-1], sections), str(path[-1]), "there is no such key"
    tables = [table for table in _TABLES if len(path) == 1 and key in _keys((table,), sections)]
    if len(tables) == 1:
        return TomlProblem(path, text, choices, advice=f"write it below [{tables[0]}]")
    return TomlProblem(path, text, choices, nearest(key, choices))


def _shape(path: Path, sections: Sections) -> tuple[type[Table], Path]:
    """What says what may stand at `path`, and the rest of the path in it."""
    if path[:1] == ("workload",) and len(path) > 1 and path[1] in sections:
        return sections[str(path[1])].shape, path[2:]
    return ScenarioTable, path


def _keys(path: Path, sections: Sections) -> tuple[str, ...]:
    """Those of the table at `path`."""
    keys = keys_at(*_shape(path, sections))
    return (*keys, *sections) if path == ("workload",) else keys


def _choices(path: Path, sections: Sections) -> tuple[str, ...]:
    """What may stand at `path`, where that is a short list."""
    shape, rest = _shape(path, sections)
    if shape is not ScenarioTable:
        return words_at(shape, rest)
    if path[-1] in LENGTHS:
        return spans.FORMS_FIXED if path[-1] in FIXED else spans.FORMS
    if path[-1] == "target":
        return (*TARGET_FORMS, *CLIENT_FORMS)
    if path[-1] in ("publisher_endpoint", "consumer_endpoint"):
        return (*ENDPOINT_FORMS, "a list of hosts' names")
    return words_at(shape, rest)
