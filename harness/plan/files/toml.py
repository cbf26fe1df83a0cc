"""TOML text -> Scenario: one that can be run, or every problem in it.

1. All problems are reported at once, each with its place and the valid choices.
2. Several keys are checked together even if other keys are wrong, as far as possible.
3. The scenario keeps its text: a run folder has exactly what was read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any

from faults.core.options import CLIENTS
from faults.core.targets import CLIENT
from faults.kinds import KINDS
from harness.outside.text import brief
from harness.plan.checks import overlaps
from harness.plan.clients.registry import registry
from harness.plan.clients.section import Sections
from harness.plan.files import references, scenario_tables
from harness.plan.files.fault_options import options_of
from harness.plan.files.fault_table import FaultTable
from harness.plan.files.operation_table import OperationTable
from harness.plan.files.shape import ScenarioTable, WorkloadTable, host_problems
from harness.plan.files.targets import CLIENT_FORMS, TARGET_FORMS
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem, document_of, located
from harness.plan.model import FaultPlan, OperationPlan, Scenario
from harness.plan.operation_options import OperationOptions
from harness.plan.operations import OPERATIONS, Operation, parse_through
from harness.plan.problems import PlanError, Problem
from harness.plan.workload import Retry, Workload

SCENARIO_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")


def read_scenario(name: str, source: str, file: str = "") -> Scenario:
    """Return the scenario of a TOML text. Raise PlanError with every problem in it."""
    file = file or f"{name}.toml"
    document = document_of(source, file, ScenarioTable)
    sections = registry().sections
    read = scenario_tables.read(document, sections)
    found = chain(_cross_checks(read, sections), read.wrong)
    problems = [*_name_problems(name, file), *located(found, source, file)]
    if problems or read.scenario is None:
        raise PlanError(problems)
    return _scenario(name, read.scenario, read.values(sections), source)


def _scenario(
    name: str, table: ScenarioTable, sections: Mapping[str, Any], source: str
) -> Scenario:
    return Scenario(
        name=name,
        title=table.title,
        story=table.story.strip(),
        workload=_workload(table.workload, sections),
        faults=tuple(fault_of(fault) for fault in table.fault),
        baseline=table.phases.baseline,
        recovery=table.phases.recovery,
        settle=table.phases.settle,
        drain_limit=table.phases.drain_limit,
        source=source,
        operations=tuple(_operation(operation) for operation in table.operation),
    )


def _workload(table: WorkloadTable, sections: Mapping[str, Any]) -> Workload:
    return Workload(
        queues=tuple(table.queues),
        publishers=table.publishers,
        consumers=table.consumers,
        keys=table.keys,
        rate=table.rate,
        body_bytes=table.body_bytes,
        durable=table.durable,
        persistent=table.persistent,
        confirms=table.confirms,
        retry=Retry(table.retry),
        acknowledge=table.acknowledge,
        deadline_s=table.deadline,
        publisher_endpoint=table.publisher_endpoint,
        consumer_endpoint=table.consumer_endpoint,
        sections=sections,
        declared_at=table.declared_at,
        consumer_groups=tuple(table.consumer_groups),
        processing_s=table.processing,
    )


def fault_of(table: FaultTable) -> FaultPlan:
    """Return what a fault's table says."""
    kind = KINDS[table.kind]
    return FaultPlan(
        kind=kind,
        target=table.target,
        opens=table.opens,
        lasts=table.lasts,
        options=options_of(kind, dict(table)),
        returns=table.returns,
    )


def _operation(table: OperationTable) -> OperationPlan:
    kind = OPERATIONS[table.kind]
    return OperationPlan(
        kind=kind,
        target=kind.target(table.target),
        at=table.at,
        options=_operation_options(kind, table),
    )


def _operation_options(kind: Operation, table: OperationTable) -> OperationOptions:
    """Return those options of the table that the kind takes."""
    values = dict(table)
    values["through"] = parse_through(table.through)
    values["definition"] = tuple(
        (key, tuple(value) if isinstance(value, list) else value)
        for key, value in table.definition.items()
    )
    return kind.options(**{key: values[key] for key in kind.option_keys})


def _name_problems(name: str, file: str) -> Iterator[Problem]:
    if not SCENARIO_NAME.fullmatch(name):
        yield Problem(
            file,
            f"a scenario's name (its file's name) has small letters, digits and hyphens, at most "
            f"32, a letter first; not {brief(name)}",
        )


def _cross_checks(read: scenario_tables.Read, sections: Sections) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    scenario = read.readable
    workload, faults, operations = scenario.workload, scenario.fault, scenario.operation
    yield from workload.problems()
    for number, fault in enumerate(faults):
        path: Path = ("fault", number)
        yield from workload.queue_problems((*path, "target"), fault.target)
        yield from host_problems((*path, "target"), fault.target.host if fault.target else "")
        yield from fault.problems(path)
        yield from _client_problems(path, fault, workload)
    yield from _overlaps(faults, operated=bool(operations))
    grouped = bool(workload.groups)
    for number, operation in enumerate(operations):
        path = ("operation", number)
        yield from operation.problems(path, workload.read_queues, len(faults), grouped=grouped)
    for key, table in read.readable_sections.items():
        yield from sections[key].problems(table, scenario)


def _overlaps(faults: Sequence[FaultTable], *, operated: bool) -> Iterator[TomlProblem]:
    """Those in plain seconds; lengths in layout timers are checked on each layout."""
    numbered = [*enumerate(faults, start=1)]
    found = {number: _active_fault(fault, operated) for number, fault in numbered}
    active = {number: fault for number, fault in found.items() if fault is not None}
    targets = {number: fault.target for number, fault in numbered if fault.target is not None}
    for number, text in overlaps.problems(active):
        yield TomlProblem(("fault", number - 1, "opens"), text)
    for number, text in references.problems(targets, {}):
        yield TomlProblem(("fault", number - 1, "target"), text)


def _active_fault(fault: FaultTable, operated: bool) -> overlaps.ActiveFault | None:
    """Return None if a value is invalid, or a length depends on a layout."""
    kind, lengths = fault.known_kind, (fault.opens, fault.lasts)
    options = None if kind is None else fault.options(kind)
    if kind is None or options is None or fault.target is None:
        return None
    if any(one is None or one.timers for one in lengths):
        return None
    opens_s, lasts_s = (one.seconds for one in lengths)
    return overlaps.active_fault(
        kind=kind,
        target=fault.target,
        options=options,
        opens_s=opens_s,
        ends_s=inf if fault.returns is False and not operated else opens_s + lasts_s,
    )


def _client_problems(
    path: Path, fault: FaultTable, workload: WorkloadTable
) -> Iterator[TomlProblem]:
    """Yield a target of a fault of clients that is no client, and clients of another fault."""
    kind, target = fault.known_kind, fault.target
    if kind is None or target is None:
        return
    of_clients = kind.applies_to == CLIENT
    if target.of_clients != of_clients:
        text = f"the target of a {kind.name} is {'clients' if of_clients else 'a host'}"
        yield TomlProblem((*path, "target"), text, CLIENT_FORMS if of_clients else TARGET_FORMS)
    elif target.client:
        role, _, number = target.client.partition("-")
        count = workload.publishers if role == "publisher" else workload.consumers
        groups = len(workload.groups) if role == "consumer" else 1
        if count is not None and int(number) > (all_of_them := count * max(1, groups)):
            text = f"the workload has {all_of_them} {role}s, and no {target.client}"
            yield TomlProblem((*path, "target"), text)
    elif (
        CLIENTS.key in kind.option_keys
        and fault.given.get(CLIENTS.key) == "consumers"
        and workload.consumers == 0
    ):
        yield TomlProblem((*path, CLIENTS.key), "the workload has no consumers")
