"""A client that is told otherwise than the scenario says: `NAME+KEY=VALUE`, or `NAME+KEY` for a
key that is to be true. It is a cell of its own, beside the client that is not.

1. Keys say how a client is set up: those of its family's section that the family names so
   (Section.by_client). What is sent stays the scenario's: else cells would not compare.
2. One client has one spelling: keys come in the order of the alphabet, a true one without `=`.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from harness.outside.text import brief
from harness.plan.clients.section import Section
from harness.plan.problems import Problem, nearest

MARK = "+"


@dataclass(frozen=True, slots=True)
class Words:
    """`NAME+KEY=VALUE`, taken apart and not looked at."""

    name: str
    told: tuple[tuple[str, str], ...]  # key and value, as they are written; a true one has "true"

    def __str__(self) -> str:
        told = (key if value == "true" else f"{key}={value}" for key, value in sorted(self.told))
        return MARK.join((self.name, *told))


def words(client: str) -> Words:
    name, *parts = client.split(MARK)
    pairs = (part.partition("=") for part in parts)
    return Words(name, tuple((key, value if mark else "true") for key, mark, value in pairs))


def name_of(client: str) -> str:
    """The name that it is registered by."""
    return words(client).name


def said(client: str, section: Section[Any, Any], of_scenario: Any) -> Any:
    """What the section says to this client: the scenario's value, but for what it is told
    otherwise. The client has no `problems`."""
    own = dict(words(client).told)
    if not own:
        return of_scenario
    table = section.shape.model_validate(_values(own))
    return replace(of_scenario, **{key: getattr(table, key) for key in own})


def problems(place: str, client: str, section: Section[Any, Any] | None) -> Iterator[Problem]:
    """What is wrong with what it is told; its name is a client's, whose family has `section`."""
    taken = words(client)
    keys = [key for key, _ in taken.told]
    known = section.by_client if section else ()
    for key in dict.fromkeys(keys):
        if key not in known:
            text = f"{brief(client)}: {taken.name} is told no {brief(key)} by its name"
            yield Problem(place, text, known, nearest(key, known))
        elif keys.count(key) > 1:
            yield Problem(place, f"{brief(client)}: {key} is said more than once")
    if any(key not in known or keys.count(key) > 1 for key in keys):
        return
    wrong = list(_wrong_values(taken.told, section)) if section else []
    yield from (Problem(place, f"{brief(client)}: {text}") for text in wrong)
    if not wrong and str(taken) != client:
        yield Problem(place, f"{brief(client)} has one spelling", (str(taken),))


def _wrong_values(told: Iterable[tuple[str, str]], section: Section[Any, Any]) -> Iterator[str]:
    for key, value in told:
        try:
            section.shape.model_validate(_values({key: value}))
        except ValidationError as error:
            yield f"{key} cannot be {brief(value)}: {error.errors()[0]['msg']}"


def _values(told: Mapping[str, str]) -> dict[str, Any]:
    """As a scenario file would have them; a bare word is a text."""
    return {key: _value(text) for key, text in told.items()}


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
