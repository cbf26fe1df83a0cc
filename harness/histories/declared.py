"""Declarations about a broker: facts of preconditions, in a document or as words NAME=VALUE.

1. null, or no entry, is unknown.
2. A declaration cannot overrule the history itself: a contradiction is an error.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from harness.histories.complaints import Complaints
from harness.histories.history import FactValue, History
from harness.outside.text import brief

OPTION = "--declare"
NUMBER_MAX = 10**9
_WORDS: Mapping[type, str] = {bool: "neither true nor false", float: "not number"}


def read_declared(
    document: object, place: str, kinds: Mapping[str, type], complaints: Complaints
) -> dict[str, FactValue]:
    """Return the facts of a document's object, by name."""
    if not isinstance(document, Mapping):
        complaints.add(place, f"{brief(document)} is not an object")
        return {}
    known: dict[str, FactValue] = {}
    for name, value in document.items():
        at = f"{place}.{name}" if place else name
        if name not in kinds:
            complaints.unknown(place, "fact", name, tuple(kinds))
        elif value is not None and not _is_of(value, kinds[name]):
            word = _WORDS.get(kinds[name], f"not {kinds[name].__name__}")
            complaints.add(at, f"{brief(value)} is {word}, nor null")
        elif kinds[name] is float and value is not None and _outside(value):
            complaints.add(at, f"{brief(value)} is not a number from 0 to {NUMBER_MAX:,}")
        elif value is not None:
            known[name] = value
    return known


def of_words(words: Sequence[str], kinds: Mapping[str, type]) -> dict[str, FactValue]:
    """Return the facts of a command line: `no_ack=false`. Raise PlanError with every problem in
    them."""
    complaints = Complaints(OPTION)
    values: dict[str, object] = {}
    for word in words:
        name, between, value = word.partition("=")
        if not between or not value:
            complaints.add("", f"{brief(word)} is not NAME=VALUE")
        elif name in values:
            complaints.add(name, "it is declared twice")
        else:
            values[name] = _value(value, kinds.get(name, str))
    known = read_declared(values, "", kinds, complaints)
    complaints.check()
    return known


def declaring(history: History, declared: Mapping[str, FactValue], file: str) -> History:
    """Return the history with these declarations. Raise PlanError if they contradict it."""
    complaints = Complaints(file)
    for name, value in declared.items():
        said = history.declared.get(name, value)
        if said != value:
            text = f"it is {brief(said)}, and {OPTION} says {brief(value)}"
            complaints.add(f"declared.{name}", text)
    complaints.check()
    return replace(history, declared={**history.declared, **declared})


def _value(word: str, kind: type) -> object:
    """Return the value as JSON has it; a word is itself."""
    if kind is str:
        return word
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return word


def _outside(value: object) -> bool:
    """Return whether a number is out of bounds: no fact is below 0, and no time longer than 31
    years."""
    return isinstance(value, int | float) and not 0 <= value <= NUMBER_MAX


def _is_of(value: object, kind: type) -> bool:
    if isinstance(value, int) and abs(value) >= 2**63:
        return False  # no float holds what JSON may say
    if kind is float and isinstance(value, int | float):
        return not isinstance(value, bool) and isfinite(value)
    return type(value) is kind
