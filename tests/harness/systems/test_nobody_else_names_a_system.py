"""Modules that serve every system name none: what differs, systems and clients' families declare.

What is said here of names holds for identifiers and strings; docstrings and comments tell people
what was seen where, and may.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAMES = re.compile("rocket|rabbit|amqp|remoting|mirrored", re.IGNORECASE)
PARTS = ("faults", "harness", "spark_analysis")
# Who may: systems, clients' families, and who reads files of other tools.
OWN = ("harness/systems/", "harness/workers/", "harness/plan/clients/", "harness/histories/")
# What is left, and why. It only shrinks: an entry that is not needed any more fails, too.
_PROTOCOLS = "doors and words on peers' links know the two protocols that the agent speaks"
_ALARMS = "alarms are raised by one family's command line, whoever the broker is"
_FACT = "`mirrored_on` is the fact where a queue has mirrors, whoever's queue it is"
_WORKLOADS = "a scenario's sections of clients are fields of the workload, not the families' own"
_TOPOLOGIES = "somebody else's cluster is met as one family's only"
_CLIENTS = "what is fetched, and looked for, for clients is not declared by their families"
_OPTIONS = "what a run tells clients, and counts for them, is one family's or the other's field"
_PAGES = "the rows of published pages tell one broker's version, by its name"
_REFERENCE = "it shows the reference, and nothing else"
LEFT = {
    "faults/executors/alarms.py": _ALARMS,
    "faults/executors/doors.py": _PROTOCOLS,
    "faults/executors/peer_words.py": _PROTOCOLS,
    "harness/campaigns/stored.py": _PAGES,
    "harness/claims/state.py": _FACT,
    "harness/claims/vocabulary.py": _FACT,
    "harness/commands/reference.py": _REFERENCE,
    "harness/deploy/doctor.py": _CLIENTS,
    "harness/deploy/external/cluster.py": _TOPOLOGIES,
    "harness/deploy/external/doctor.py": _TOPOLOGIES,
    "harness/deploy/external/faults.py": _TOPOLOGIES,
    "harness/deploy/external/removal.py": _TOPOLOGIES,
    "harness/deploy/external/rights.py": _TOPOLOGIES,
    "harness/deploy/external/site.py": _TOPOLOGIES,
    "harness/deploy/jars.py": _CLIENTS,
    "harness/deploy/java_tools.py": _CLIENTS,
    "harness/plan/declared.py": _WORKLOADS,
    "harness/plan/model.py": _WORKLOADS,
    "harness/plan/promises.py": _FACT,
    "harness/plan/rocketmq_checks.py": _WORKLOADS,
    "harness/plan/shape.py": _WORKLOADS,
    "harness/plan/toml.py": _WORKLOADS,
    "harness/plan/topology_shape.py": _TOPOLOGIES,
    "harness/plan/topology_toml.py": _TOPOLOGIES,
    "harness/report/client_matrix.py": _CLIENTS,
    "harness/report/console/demo_table.py": _REFERENCE,
    "harness/request/demo.py": _REFERENCE,
    "harness/run/preparing.py": _OPTIONS,
    "harness/run/told.py": _OPTIONS,
}


def named(source: str) -> Iterator[str]:
    """Every identifier and string of a module that names a system, docstrings left out."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) not in docstrings:
            yield from (word for word in _words(node) if NAMES.search(word))


def _words(node: ast.AST) -> Iterator[str]:
    for _, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, str):
                yield one


def modules() -> list[str]:
    every = (path for part in PARTS for path in (ROOT / part).rglob("*.py"))
    names = (path.relative_to(ROOT).as_posix() for path in every)
    return sorted(name for name in names if not name.startswith(OWN))


@pytest.mark.parametrize("module", modules())
def test_a_module_that_serves_every_system_names_none(module: str) -> None:
    found = sorted(set(named((ROOT / module).read_text("utf-8"))))
    if module in LEFT:
        assert found, f"{module} names no system any more: strike it from the list"
    else:
        assert not found, f"{module} names {found}: let the system or the client declare it"


def test_the_list_of_what_is_left_has_no_module_that_is_gone() -> None:
    assert set(LEFT) <= set(modules())


@pytest.mark.parametrize(
    "source",
    [
        "import harness.systems.rocketmq",
        "from harness.systems import rabbitmq as one",
        "from harness.plan.clients.amqp import X",
        "layout.rocketmq",
        "def of(rocketmq): ...",
        "class RabbitBroker: ...",
        "f(amqp=1)",
        "x = 'rabbitmq-mirrored'",
        "x = f'{a} speaks AMQP'",
        "REMOTING = 1",
    ],
)
def test_a_name_is_seen_wherever_it_stands(source: str) -> None:
    assert list(named(source))


def test_what_is_told_to_people_is_no_name() -> None:
    assert not list(named('"""RocketMQ does so."""\n\ndef f():\n    """RabbitMQ."""  # AMQP'))
