"""What load two experiments played under one scenario's name, and in what it differs.

1. A load is what the scenario's file asks for, setting by setting; what the file leaves out is not
   set. The digest is of the whole text: faults, times and limits are part of it.
2. An older record does not hold it, and a text without a workload has no settings: that is
   unknown, and never equal.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.files.toml_problems import document_of
from harness.plan.problems import PlanError

Setting = str | bool | int | float
NOT_SET = "not set"
UNKNOWN = "it is unknown whether the load differs: no record of it in"


@dataclass(frozen=True, slots=True)
class PlayedLoad:
    """`settings`: of the scenario's workload, by their keys (`rate`, `rocketmq.tags`). `digest`:
    SHA-256 of the scenario's text."""

    settings: Mapping[str, Setting]
    digest: str


Loads = tuple[PlayedLoad | None, ...]  # of the runs of a cell, each once; None is unknown


def played(source: str) -> PlayedLoad | None:
    """Return the load of a scenario's text; None: the text has none that can be read."""
    try:
        workload = document_of(source, "the scenario").get("workload")
    except PlanError:
        return None
    if not isinstance(workload, Mapping):
        return None
    settings = dict(sorted(_flat(workload)))
    return PlayedLoad(settings, hashlib.sha256(source.encode()).hexdigest())


def each_once(loads: Iterable[PlayedLoad | None]) -> Loads:
    found: list[PlayedLoad | None] = []
    for one in loads:
        if one not in found:
            found.append(one)
    return tuple(found)


def differences(before: Loads, after: Loads, names: tuple[str, str]) -> str:
    """Return what differs from the one side to the other; "": nothing. `names`: of the sides."""
    unknown = [
        name for name, side in zip(names, (before, after), strict=True) if not side or None in side
    ]
    if unknown:
        return f"{UNKNOWN} {' and '.join(unknown)}"
    sides = [[one for one in side if one is not None] for side in (before, after)]
    before_texts, after_texts = ({one.digest for one in side} for side in sides)
    if before_texts == after_texts:
        return ""
    found = list(_settings(*sides))
    return "; ".join(found) or "the same load, but another text of the scenario"


def _settings(before: list[PlayedLoad], after: list[PlayedLoad]) -> Iterator[str]:
    for key in sorted({key for one in (*before, *after) for key in one.settings}):
        texts = [
            " or ".join(dict.fromkeys(str(one.settings.get(key, NOT_SET)) for one in side))
            for side in (before, after)
        ]
        if texts[0] != texts[1]:
            yield f"{key} {texts[0]} → {texts[1]}"


def _flat(table: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Setting]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{key}.")
        elif isinstance(value, bool | int | float):
            yield f"{within}{key}", value
        elif isinstance(value, list):
            yield f"{within}{key}", ", ".join(map(str, value))
        else:
            yield f"{within}{key}", str(value)
