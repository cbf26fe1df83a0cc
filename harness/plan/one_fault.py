"""PURE: a fault that somebody injects by hand: the same words and checks as in a scenario.

1. The fault is read as a table of a scenario file: its kinds, options, targets and lengths.
2. Whether it means anything on a layout is asked as for a scenario with this fault alone.
3. No client of mqproof is there, so nothing may mean one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from faults.core.options import CLIENTS
from faults.core.targets import CLIENT
from faults.kinds import KINDS
from harness.plan.checks.applicability import fault_obstacles
from harness.plan.clients.registry import registry
from harness.plan.clients.requirements import chosen_client
from harness.plan.files import scenario_tables, spans
from harness.plan.files.targets import REFERENCES, TargetForm
from harness.plan.files.toml import fault_of, read_scenario
from harness.plan.files.toml_problems import TomlProblem, document_of
from harness.plan.model import FaultPlan, Layout, Scenario, System
from harness.plan.problems import PlanError, Problem

_PLACES = {"kind": "KIND", "target": "TARGET", "lasts": "--for"}
_ENDS = ("opens", "returns")
_NOT_BY_HAND = (*_PLACES, *_ENDS, CLIENTS.key)  # keys of a scenario's fault
_NAME = "by-hand"
NUMBERED = "fault 1: "  # by hand there is only one
# Only its fault is replaced; nothing of this is played.
_SCENARIO = """\
title = "A fault by hand"
story = "Somebody injects one fault."

[workload]
queues = ["orders"]
publishers = 1
consumers = 0
keys = 1
rate = 1
body_bytes = 100

[phases]
baseline = "1 s"
recovery = "1 s"
settle = "1 s"
drain_limit = "1 s"

[[fault]]
kind = "kill"
target = "master of orders"
lasts = "1 s"
"""


def read_fault(given: Mapping[str, object]) -> FaultPlan:
    """Return the fault of these keys and values. Raise PlanError with every problem in them."""
    document = {**document_of(_SCENARIO, _NAME), "fault": [dict(given)]}
    read = scenario_tables.read(document, registry().sections)
    found = list(read.wrong)
    wrong = {one.path[-1] for one in found}
    checked = read.readable.fault[0].problems(("fault", 0))
    found += [one for one in checked if one.path[-1] not in wrong]
    problems = [
        Problem(f"--set {key}", "a fault by hand begins at once and ends when its time is over")
        for key in _ENDS
        if key in given
    ]
    problems += [_located(one) for one in found if one.path[-1] not in _ENDS]
    if read.scenario is not None and not problems:
        fault = fault_of(read.scenario.fault[0])
        problems += _of_clients(fault, given)
    if problems:
        raise PlanError(problems)
    return fault


def _located(found: TomlProblem) -> Problem:
    key = str(found.path[-1])
    choices = tuple(one for one in found.choices if one not in _NOT_BY_HAND)
    if choices == spans.FORMS:  # they show what a scenario may need; by hand the time is plain
        choices = spans.FORMS_FIXED
    return Problem(_PLACES.get(key, f"--set {key}"), found.text, choices, found.guess)


def _of_clients(fault: FaultPlan, given: Mapping[str, object]) -> Iterator[Problem]:
    kind, target = fault.kind, fault.target
    none = "mqproof starts no clients beside clusters by hand"
    if kind.applies_to == CLIENT:
        others = tuple(one.name for one in KINDS.values() if one.applies_to != CLIENT)
        yield Problem("KIND", f"a {kind.name} means clients of mqproof, and {none}", others)
    elif target.of_clients or target.form is TargetForm.NAME_SERVER:
        yield Problem("TARGET", f"{target.word!r} means a client of mqproof, and {none}")
    elif target.form is TargetForm.UNINVOLVED:
        yield Problem("TARGET", f"{target.word!r} refers to a workload, and there is none")
    elif target.form in REFERENCES:
        yield Problem("TARGET", f"{target.word!r} refers to a scenario's fault, and there is none")
    if CLIENTS.key in given and CLIENTS.key in kind.option_keys:
        yield Problem(f"--set {CLIENTS.key}", f"{none}; the fault affects every client's link")


def obstacles(
    fault: FaultPlan, system: System, layout: Layout, deployment: str
) -> tuple[str, ...]:
    """Return every reason why this layout cannot suffer the fault."""
    alone = replace(scenario(), faults=(fault,))
    found = fault_obstacles(alone, system, layout, chosen_client(system.clients[0]), deployment)
    return tuple(reason.removeprefix(NUMBERED) for reason in found)


def scenario() -> Scenario:
    """Return the scenario in whose place a fault by hand is injected."""
    return read_scenario(_NAME, _SCENARIO)
