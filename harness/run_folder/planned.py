"""A schedule as manifests record it: kinds by their names, targets by their words.

An operation has every option that some kind takes, whatever its own kind is: readers find the
same keys in each record.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

from harness.plan.files.targets import Target
from harness.plan.model import OperationStep, Schedule, Window
from harness.plan.operation_options import OPTIONS, OperationOptions
from harness.run_folder.fault_options import options_to_json


@dataclass(frozen=True, slots=True)
class TargetRecord:
    """What a fault of the schedule meant when its window opened."""

    window: int
    kind: str
    target: str  # as the scenario names it: "master of orders"
    places: str  # hosts, processes or clients (faults/core/places.py)


def recorded(schedule: Schedule) -> dict[str, Any]:
    document = asdict(replace(schedule, windows=(), steps=()))
    document["windows"] = [_window(one) for one in schedule.windows]
    document["steps"] = [_step(one) for one in schedule.steps]
    return document


def _window(window: Window) -> dict[str, Any]:
    fault = window.fault
    return {
        "number": window.number,
        "fault": {
            "kind": fault.kind.name,
            "target": fault.target.word,
            "opens": asdict(fault.opens),
            "lasts": asdict(fault.lasts),
            "options": options_to_json(fault.options),
            "returns": fault.returns,
        },
        "opens_s": window.opens_s,
        "lasts_s": window.lasts_s,
        "refers_to": window.refers_to,
    }


def _step(step: OperationStep) -> dict[str, Any]:
    operation = step.operation
    return {
        "number": step.number,
        "operation": {
            "kind": operation.kind.name,
            "target": operation.target.word,
            "at": asdict(operation.at),
            "options": _options(operation.options),
        },
        "at_s": step.at_s,
        "refers_to": step.refers_to,
    }


def _options(options: OperationOptions) -> dict[str, Any]:
    values = {key: getattr(options, key, option.default) for key, option in OPTIONS.items()}
    return {key: _word(value) for key, value in values.items()}


def _word(value: object) -> object:
    """Return a target's word, "" for None, and any other value as it is."""
    if isinstance(value, Target):
        return value.word
    return "" if value is None else value
