"""What somebody says of a broker: facts of preconditions, in a document or as words NAME=VALUE.

1. null, or nothing, is unknown.
2. What the history says itself is not overruled: another word on it is a mistake.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from harness.histories.complaints import Complaints
from harness.histories.history import History, Told
from harness.outside.text import brief

OPTION = "--declare"
NUMBER_MAX = 10**9


def told_facts(
    told: object, place: str, kinds: Mapping[str, type], complaints: Complaints
) -> dict[str, Told]:
    """Those of an object of a document, by name."""
    if not isinstance(told, Mapping):
        complaints.add(place, f"{brief(told)} is not an object")
        return {}
    known: dict[str, Told] = {}
    for name, value in told.items():
        at = f"{place}.{name}" if place else name
        if name not in kinds:
            complaints.unknown(place, "fact", name, tuple(kinds))
        elif value is not None and not _is_of(value, kinds[name]):
            word = "number" if kinds[name] is float else kinds[name].__name__
            complaints.add(at, f"{brief(value)} is not {word}, nor null")
        elif kinds[name] is float and value is not None and _outside(value):
            complaints.add(at, f"{brief(value)} is not a number from 0 to {NUMBER_MAX:,}")
        elif value is not None:
            known[name] = value
    return known


def of_words(words: Sequence[str], kinds: Mapping[str, type]) -> dict[str, Told]:
    """Those of a command line: `no_ack=false`. Raises PlanError with every problem in them."""
    complaints = Complaints(OPTION)
    told: dict[str, object] = {}
    for word in words:
        name, between, value = word.partition("=")
        if not between or not value:
            complaints.add("", f"{brief(word)} is not NAME=VALUE")
        elif name in told:
            complaints.add(name, "it is declared twice")
        else:
            told[name] = _value(value, kinds.get(name, str))
    known = told_facts(told, "", kinds, complaints)
    complaints.check()
    return known


def declaring(history: History, declared: Mapping[str, Told], file: str) -> History:
    """The history, of which this is known, too. Raises PlanError where it says otherwise."""
    complaints = Complaints(file)
    for name, value in declared.items():
        said = history.declared.get(name, value)
        if said != value:
            text = f"it is {brief(said)}, and {OPTION} says {brief(value)}"
            complaints.add(f"declared.{name}", text)
    complaints.check()
    return replace(history, declared={**history.declared, **declared})


def _value(word: str, kind: type) -> object:
    """As JSON has it; a word stands for itself."""
    if kind is str:
        return word
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return word


def _outside(value: object) -> bool:
    """Of all facts that are numbers none is below 0, and no time longer than 31 years."""
    return isinstance(value, int | float) and not 0 <= value <= NUMBER_MAX


def _is_of(value: object, kind: type) -> bool:
    if isinstance(value, int) and abs(value) >= 2**63:
        return False  # no float holds what JSON may say
    if kind is float and isinstance(value, int | float):
        return not isinstance(value, bool) and isfinite(value)
    return type(value) is kind
