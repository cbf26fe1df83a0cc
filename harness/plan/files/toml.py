"""TOML text -> Scenario: one that can be run, or every problem in it.

1. All problems are reported at once, each with its place and the valid choices.
2. Several keys are checked together even if other keys are wrong, as far as possible.
3. The scenario keeps its text: a run folder has exactly what was read.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from math import inf
from typing import Any

from faults.kind import Kind
from faults.kinds import KINDS, OPTIONS
from faults.options import CLIENTS
from faults.targets import CLIENT
from harness.outside.text import brief
from harness.plan import distribution
from harness.plan.checks import overlaps
from harness.plan.clients.registry import registry
from harness.plan.clients.section import Sections
from harness.plan.files import operation_checks, references, scenario_tables, spans
from harness.plan.files.fault_options import kind_of, limit_problem, options_of, readable_options
from harness.plan.files.shape import (
    FAULTS_MAX,
    GROUPS_MAX,
    OPERATIONS_MAX,
    QUEUES_MAX,
    FaultTable,
    OperationTable,
    ScenarioTable,
    WorkloadTable,
)
from harness.plan.files.targets import CLIENT_FORMS, TARGET_FORMS, Target, TargetForm, parse_target
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem, document_of, located
from harness.plan.model import FaultPlan, OperationPlan, Scenario
from harness.plan.operation_options import OperationOptions
from harness.plan.operations import OPERATIONS, Operation, parse_through
from harness.plan.problems import PlanError, Problem, nearest
from harness.plan.workload import Retry, Workload

SCENARIO_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")


def read_scenario(name: str, source: str, file: str = "") -> Scenario:
    """Return the scenario of a TOML text. Raise PlanError with every problem in it."""
    file = file or f"{name}.toml"
    document = document_of(source, file)
    sections = registry().sections
    read = scenario_tables.read(document, sections)
    found = chain(_cross_checks(document, sections), read.wrong)
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


def _cross_checks(document: dict[str, Any], sections: Sections) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    workload = document.get("workload")
    if not isinstance(workload, dict):
        workload = {}
    sent_to = _queue_names(workload.get("queues"))
    groups = _group_names(workload.get("consumer_groups"))
    # A target names a queue that consumers read: those of groups may lie on several hosts.
    own = (f"{queue}-{group}" for queue in sent_to for group in groups)
    queues = [*dict.fromkeys(own)] or sent_to
    yield from _workload_checks(workload, sent_to, queues)
    yield from _group_checks(sent_to, groups)
    faults = _few(document.get("fault"), FAULTS_MAX)
    targets = _targets(faults)
    for number, fault in enumerate(faults, start=1):
        if isinstance(fault, dict):
            target, path = targets.get(number), ("fault", number - 1)
            yield from _queue_check((*path, "target"), fault.get("target"), target, queues)
            yield from fault_checks(path, fault)
            if target is not None:
                yield from _client_checks((*path, "target"), fault, target, workload)
    operations = _few(document.get("operation"), OPERATIONS_MAX)
    yield from _overlaps(faults, targets, operated=bool(operations))
    yield from operation_checks.problems(operations, queues, len(faults), grouped=bool(groups))
    for section in sections.values():
        yield from section.problems(document)


def _queue_names(value: object) -> list[str]:
    """Return the names as far as they can be read; none of too many, which the shape reports."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= QUEUES_MAX:
        return distribution.generated(value)
    return [queue for queue in _few(value, QUEUES_MAX) if isinstance(queue, str)]


def _group_names(value: object) -> list[str]:
    """The same of consumer groups."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= GROUPS_MAX:
        return distribution.generated_groups(value)
    return [group for group in _few(value, GROUPS_MAX) if isinstance(group, str)]


def _group_checks(queues: list[str], groups: list[str]) -> Iterator[TomlProblem]:
    path: Path = ("workload", "consumer_groups")
    if len(set(groups)) < len(groups):
        yield TomlProblem(path, "a group is named twice")
        return
    own = [f"{queue}-{group}" for queue in dict.fromkeys(queues) for group in groups]
    for name in sorted({name for name in own if own.count(name) > 1 or name in queues}):
        text = f"the queue of a group, {brief(name)}, would have the name of another queue"
        yield TomlProblem(path, text)


def _workload_checks(
    workload: dict[str, Any], sent_to: list[str], queues: list[str]
) -> Iterator[TomlProblem]:
    if len(set(sent_to)) < len(sent_to):
        yield TomlProblem(("workload", "queues"), "a queue is named twice")
    for key in ("publisher_endpoint", "consumer_endpoint"):
        word = workload.get(key)
        yield from _queue_check(("workload", key), word, _target(word), queues)
    if workload.get("confirms") is False and workload.get("retry", "until_confirmed") != "never":
        text = "without confirms there is nothing to retry until"
        yield TomlProblem(("workload", "retry"), text, ("never",))
    if spans.is_positive(workload.get("processing")):
        yield from _processing_checks(workload)


def _processing_checks(workload: dict[str, Any]) -> Iterator[TomlProblem]:
    """Check that there is an acknowledgement that can wait for the processing."""
    path: Path = ("workload", "processing")
    if workload.get("acknowledge") == "none":
        text = "with acknowledge = 'none' no acknowledgement waits, so consumers get no slower"
        yield TomlProblem(path, text, ("0 s",))
    if workload.get("consumers") == 0:
        yield TomlProblem(path, "the workload has no consumers", ("0 s",))


def _queue_check(
    path: Path, word: object, target: Target | None, queues: list[str]
) -> Iterator[TomlProblem]:
    """Check that the workload has the queue. `word`: the target as it is written."""
    if target is None or not target.queue or not queues or target.queue in queues:
        return
    right = tuple(target.form.replace(TargetForm.QUEUE, queue) for queue in queues)
    text, guess = f"the workload has no queue {brief(target.queue)}", nearest(str(word), right)
    if len(queues) > distribution.NAMED_MAX:
        text += f", but {distribution.named(queues)}"
        yield TomlProblem(path, text, guess=guess)
    else:
        yield TomlProblem(path, text, right, guess)


def fault_checks(path: Path, fault: dict[str, Any]) -> Iterator[TomlProblem]:
    """Check the keys of one fault together. `path`: of its table."""
    kind = kind_of(fault)
    if kind is not None:
        yield from _option_checks(path, fault, kind)
        with suppress(ValueError):  # a value that is wrong by itself is reported as such
            key, why = readable_options(kind, fault).contradiction
            if key:
                yield TomlProblem((*path, key), why)
    try:
        empty = spans.parse(fault.get("lasts")) == spans.parse("0 s")
    except ValueError:
        return
    if empty:
        yield TomlProblem((*path, "lasts"), "a window of no length shows nothing")
    elif kind is not None:
        with suppress(ValueError):  # a length in layout timers is checked on each layout
            lasts_s = spans.parse_seconds(fault.get("lasts"))
            if text := readable_options(kind, fault).window_problem(lasts_s):
                yield TomlProblem((*path, "lasts"), text)


def _overlaps(
    faults: list[object], targets: dict[int, Target], operated: bool
) -> Iterator[TomlProblem]:
    """Those in plain seconds; lengths in layout timers are checked on each layout."""
    active = {}
    for number, fault in enumerate(faults, start=1):
        if isinstance(fault, dict) and number in targets:
            with suppress(ValueError):
                active[number] = _active_fault(fault, targets[number], operated)
    for number, text in overlaps.problems(active):
        yield TomlProblem(("fault", number - 1, "opens"), text)
    for number, text in references.problems(targets, {}):
        yield TomlProblem(("fault", number - 1, "target"), text)


def _targets(faults: list[object]) -> dict[int, Target]:
    """The targets that can be read, by the number of their fault."""
    read = {
        number: _target(fault.get("target"))
        for number, fault in enumerate(faults, start=1)
        if isinstance(fault, dict)
    }
    return {number: target for number, target in read.items() if target is not None}


def _target(word: object) -> Target | None:
    """Return the target that a word names; None if it names none, which the shape reports."""
    try:
        return parse_target(word) if isinstance(word, str) else None
    except ValueError:
        return None


def _active_fault(fault: dict[str, Any], target: Target, operated: bool) -> overlaps.ActiveFault:
    """Raise ValueError if a value is invalid, or a length depends on a layout."""
    kind = kind_of(fault)
    if kind is None:
        raise ValueError(f"there is no such kind: {brief(fault.get('kind'))}")
    opens_s = spans.parse_seconds(fault.get("opens", "0 s"))
    ends_s = opens_s + spans.parse_seconds(fault.get("lasts"))
    return overlaps.active_fault(
        kind=kind,
        target=target,
        options=readable_options(kind, fault),
        opens_s=opens_s,
        ends_s=inf if fault.get("returns") is False and not operated else ends_s,
    )


def _client_checks(
    path: Path, fault: dict[str, Any], target: Target, workload: dict[str, Any]
) -> Iterator[TomlProblem]:
    """Yield a target of a fault of clients that is no client, and clients of another fault."""
    kind = kind_of(fault)
    if kind is None:
        return
    of_clients = kind.applies_to == CLIENT
    if target.of_clients != of_clients:
        text = f"the target of a {kind.name} is {'clients' if of_clients else 'a host'}"
        yield TomlProblem(path, text, CLIENT_FORMS if of_clients else TARGET_FORMS)
    elif target.client:
        role, _, number = target.client.partition("-")
        count = workload.get(f"{role}s")
        groups = len(_group_names(workload.get("consumer_groups"))) if role == "consumer" else 1
        if isinstance(count, int) and int(number) > (all_of_them := count * max(1, groups)):
            text = f"the workload has {all_of_them} {role}s, and no {target.client}"
            yield TomlProblem(path, text)
    elif (
        CLIENTS.key in kind.option_keys
        and fault.get(CLIENTS.key) == "consumers"
        and workload.get("consumers") == 0
    ):
        yield TomlProblem((*path[:-1], CLIENTS.key), "the workload has no consumers")


def _option_checks(path: Path, fault: dict[str, Any], kind: Kind) -> Iterator[TomlProblem]:
    own = kind.option_keys
    for key in OPTIONS.keys() & fault.keys() - set(own):
        takers = tuple(one.name for one in KINDS.values() if key in one.option_keys)
        text = f"a {kind.name} takes no {key}; only {', '.join(takers) or 'nothing'} does"
        yield TomlProblem((*path, key), text, own)
    for key in own:
        if key in fault and (text := limit_problem(OPTIONS[key], fault[key])):
            yield TomlProblem((*path, key), f"{text}, not {brief(fault[key])}")
    if kind.needs and not fault.keys() & set(kind.needs):
        yield TomlProblem((*path, "kind"), f"a {kind.name} needs {' or '.join(kind.needs)}")
    if set(kind.needs_all) - fault.keys():
        yield TomlProblem((*path, "kind"), f"a {kind.name} needs {' and '.join(kind.needs_all)}")
    if "returns" in fault and not kind.may_stay:
        stayers = " or ".join(one.name for one in KINDS.values() if one.may_stay)
        text = f"a {kind.name} always ends; only a {stayers} may never return"
        yield TomlProblem((*path, "returns"), text)


def _few(value: object, most: int) -> list[object]:
    """A list that may be so long; of a longer one nothing else is said but that it is."""
    found = _list(value)
    return found if len(found) <= most else []


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
