"""Options in a client's name: `NAME+KEY=VALUE`, or `NAME+KEY` for a key that is to be true.

They replace what the scenario says. The client with options is a cell of its own, beside the
client without them.

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
from harness.plan.files.shape_words import problem_of
from harness.plan.problems import Problem, nearest

MARK = "+"
ADVICE = "leave the option out, or see docs/clients.md"


@dataclass(frozen=True, slots=True)
class ClientSpec:
    """The parts of `NAME+KEY=VALUE`, not checked."""

    name: str
    options: tuple[
        tuple[str, str], ...
    ]  # key and value, as they are written; a true one has "true"

    def __str__(self) -> str:
        options = (
            key if value == "true" else f"{key}={value}" for key, value in sorted(self.options)
        )
        return MARK.join((self.name, *options))


def words(client: str) -> ClientSpec:
    name, *parts = client.split(MARK)
    pairs = (part.partition("=") for part in parts)
    return ClientSpec(name, tuple((key, value if mark else "true") for key, mark, value in pairs))


def name_of(client: str) -> str:
    """Return the name that the client is registered by."""
    return words(client).name


def applied(client: str, section: Section[Any, Any], of_scenario: Any) -> Any:
    """Return the scenario's value of the section, with the client's options in their keys.

    The client has no `problems`.
    """
    own = dict(words(client).options)
    if not own:
        return of_scenario
    table = section.shape.model_validate(_values(own))
    return replace(of_scenario, **{key: getattr(table, key) for key in own})


def problems(place: str, client: str, section: Section[Any, Any] | None) -> Iterator[Problem]:
    """Yield the mistakes in a client's options. Its family has `section`."""
    taken = words(client)
    keys = [key for key, _ in taken.options]
    known = section.by_client if section else ()
    for key in dict.fromkeys(keys):
        if key not in known:
            text = (
                f"{brief(client)}: option {brief(key)} is unknown for client {brief(taken.name)}"
            )
            expected = "" if known else "no option: this client takes none in its name"
            guess = nearest(key, known)
            yield Problem(place, text, known, guess, expected=expected, advice=ADVICE)
        elif keys.count(key) > 1:
            yield Problem(place, f"{brief(client)}: {key} is given more than once")
    if any(key not in known or keys.count(key) > 1 for key in keys):
        return
    wrong = list(_wrong_values(taken.options, section)) if section else []
    yield from (Problem(place, f"{brief(client)}: {text}") for text in wrong)
    if not wrong and str(taken) != client:
        yield Problem(place, f"{brief(client)} has one spelling", (str(taken),))


def _wrong_values(options: Iterable[tuple[str, str]], section: Section[Any, Any]) -> Iterator[str]:
    for key, value in options:
        try:
            section.shape.model_validate(_values({key: value}))
        except ValidationError as error:
            yield f"{key} cannot be {brief(value)}: {problem_of(error.errors()[0])}"


def _values(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the options as a scenario file would have them; a bare word is a text."""
    return {key: _value(text) for key, text in options.items()}


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or too many digits or brackets to be read
        return text
