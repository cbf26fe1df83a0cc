"""A schedule as manifests record it: kinds by their names, targets by their words."""

from dataclasses import asdict, replace
from typing import Any

from harness.plan.model import Schedule, Window
from harness.run_folder.fault_options import options_to_json


def recorded(schedule: Schedule) -> dict[str, Any]:
    document = asdict(replace(schedule, windows=()))
    document["windows"] = [_window(one) for one in schedule.windows]
    for step, one in zip(document["steps"], schedule.steps, strict=True):
        step["operation"]["target"] = one.operation.target.word
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
