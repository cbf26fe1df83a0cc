"""TOML text -> Topology: one that can be used, or every problem in it.

1. All problems are reported at once, each with its place and the valid choices.
2. Several keys are checked together even if other keys are wrong, as far as possible.
3. The outside world is not examined here: variables and brokers are checked later.
4. A system declares its own keys: callers pass its shape.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

from pydantic import Field, ValidationError

from faults.core.commands import HostCommand
from faults.kinds import by_command
from harness.outside.text import brief
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import MISSING, TomlProblem, document_of, located, of_shape
from harness.plan.files.topology_shape import (
    BROKERS_MAX,
    BrokerCommandsTable,
    ProxyTable,
    TopologyFile,
    TopologyShape,
)
from harness.plan.layouts.topology import Proxy, Topology, bracketed
from harness.plan.problems import PlanError, Problem, nearest

TOPOLOGY_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_PLACES = (
    "only on this machine: workers elsewhere would need mqproof there, and a clock that is "
    "compared with this one's"
)


def read_topology(
    name: str,
    source: str,
    shapes: Mapping[str, TopologyShape],
    file: str = "",
    others: Collection[str] = (),
) -> Topology:
    """`shapes`: by the names that `system` may be; `others`: systems that cannot be external.
    Raises PlanError with every problem in it."""
    file = file or f"{name}.toml"
    document = document_of(source, file)
    shape = _shape(document.get("system"), shapes)
    table, of_keys = _shaped(document, shape)
    found = chain(_cross_checks(document, shapes, others), _own(document, shape), of_keys)
    problems = located(found, source, file)
    if not TOPOLOGY_NAME.fullmatch(name):
        text = "a topology's name (its file's) has small letters, digits and hyphens, at most 31"
        problems.insert(0, Problem(file, f"{text}, a letter first; not {brief(name)}"))
    if problems:
        raise PlanError(problems)
    assert table is not None, "nothing is wrong with it"
    return table.topology(name, source)


def _shape(system: object, shapes: Mapping[str, TopologyShape]) -> TopologyShape | None:
    """Return the shape to check a file with.

    If its system is unknown, this is the shape of the system that it may mean, or the keys that
    all of them have; None: the keys are unknown.
    """
    if isinstance(system, str):
        meant = system if system in shapes else nearest(system, tuple(shapes))
        if meant:
            return shapes[meant]
    every = tuple(shapes.values())
    return every[0] if every and all(one == every[0] for one in every) else None


def _shaped(
    document: Mapping[str, Any], shape: TopologyShape | None
) -> tuple[TopologyFile | None, Iterator[TomlProblem]]:
    if shape is None:
        return None, iter(())
    try:
        return cast(TopologyFile, shape.file.model_validate(document)), iter(())
    except ValidationError as errors:
        return None, map(_of_place, of_shape(errors, shape.file))


def _own(document: Mapping[str, Any], shape: TopologyShape | None) -> Iterator[TomlProblem]:
    """Yield the family's mistakes; without a family, that its keys are unknown."""
    if shape is not None:
        yield from cast(TopologyFile, shape.file.readable(document)).problems()
    elif "system" not in document:
        yield TomlProblem(("system",), MISSING)
    elif not isinstance(document["system"], str):
        yield TomlProblem(("system",), f"must be a text, not {brief(document['system'])}")


# --- what files of all families have ----------------------------------------------------------


def commands_of(broker: BrokerCommandsTable) -> dict[str, HostCommand]:
    """Those that the file has, by kind."""
    commands = {kind: getattr(broker, kind) for kind in by_command()}
    return {
        kind: HostCommand(one.do, one.undo, one.verify, one.deadline)
        for kind, one in commands.items()
        if one is not None
    }


def proxy_of(table: ProxyTable | None) -> Proxy | None:
    if table is None:
        return None
    if table.at is None:
        return Proxy(start=table.start or "")
    host, port = table.at
    return Proxy(at=f"{bracketed(host)}:{port}", listen=table.listen or host)


def twice(key: str, brokers: Sequence[Table]) -> Iterator[TomlProblem]:
    """Yield what two brokers have, and each needs for itself, as the file writes it."""
    seen: set[str] = set()
    for index, broker in enumerate(brokers):
        value = broker.given.get(key)
        if isinstance(value, str) and value in seen:
            yield TomlProblem(
                ("broker", index, key), f"{brief(value)} is another broker's already"
            )
        elif isinstance(value, str):
            seen.add(value)


class _Brokers(Table):
    """What files of all families have more than once."""

    broker: list[Table] = Field(default=[], max_length=BROKERS_MAX)


# --- what is wrong with a file ------------------------------------------------------------------


def _cross_checks(
    document: Mapping[str, Any], systems: Mapping[str, object], others: Collection[str]
) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed ones."""
    system = document.get("system")
    if isinstance(system, str) and system in others:
        text = f"mqproof plays {brief(system)} only on clusters that it starts itself"
        yield TomlProblem(("system",), text, tuple(systems))
    elif isinstance(system, str) and system not in systems:
        guess = nearest(system, tuple(systems))
        yield TomlProblem(
            ("system",), f"there is no system {brief(system)}", tuple(systems), guess
        )
    yield from twice("host", _Brokers.readable(document).broker)
    if isinstance(document.get("proxy"), dict):
        yield from ProxyTable.readable(document["proxy"]).problems()


def _of_place(problem: TomlProblem) -> TomlProblem:
    """Why there is one word only for where workers run."""
    if problem.path != ("workers", "place"):
        return problem
    return replace(problem, text=f"{problem.text}: workers run {_PLACES}")
