"""Facts that packages bring: what is wrong with their declarations, and with their values.

1. A package declares the name, type and label of each fact of its own, beside what gives the
   value: `Declaration.facts` of a system, `Section.own_facts` of a client family.
2. Such a fact is one of a run, never of a fault window.
3. A value of another type is bad input. It is never recorded.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.outside.text import brief
from harness.plan.facts import Fact
from harness.plan.vocabulary import FACTS
from spark_analysis.schema.declared import FLOAT_MAX

_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
_STATE_OF_WINDOWS = "windows"  # a manifest keeps the facts of windows under this name
_KINDS: Mapping[type, tuple[type, ...]] = {bool: (bool,), str: (str,), float: (int, float)}
_KIND_TEXTS = {bool: "true or false", str: "a word", float: "a number"}


def mistakes(facts: object) -> Iterator[str]:
    """Yield the mistakes in names, types and labels. `facts`: a mapping of names to Facts."""
    if not isinstance(facts, Mapping):
        yield f"its facts are no mapping of names, but {brief(facts)}"
        return
    for name, fact in facts.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            yield f"{brief(name)} is no fact's name: small letters, digits and _"
        elif name in FACTS or name == _STATE_OF_WINDOWS:
            yield f"mqproof itself has a fact {brief(name)}: give this one another name"
        elif why := _mistake(fact):
            yield f"the fact {brief(name)}: {why}"


def _mistake(fact: object) -> str:
    if not isinstance(fact, Fact):
        return f"it is no harness.plan.vocabulary.Fact, but {brief(fact)}"
    if fact.kind not in tuple(_KINDS):
        return f"its type is bool, str or float, not {brief(fact.kind)}"
    if fact.of_window:
        return "only mqproof itself has facts of windows: set of_window to False"
    return "" if fact.label else "it has no label, which evidence and `mqproof list facts` show"


def is_of_kind(fact: Fact, value: Any) -> bool:
    """Return whether a value has the fact's type; an infinite number has not."""
    if type(value) not in _KINDS[fact.kind]:
        return False
    return isinstance(value, str) or bool(abs(value) <= FLOAT_MAX)


def kind_text(fact: Fact) -> str:
    """Return what a value of this fact is, for messages."""
    return _KIND_TEXTS[fact.kind]
