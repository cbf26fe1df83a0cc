"""Modules that serve every system name none: what differs, systems and clients' families declare.

What is said here of names holds for identifiers and strings; docstrings and comments tell people
what was seen where, and may. `mirrored_on` names no system: it is the fact where a queue has its
mirrors, the word for copies of any queue (docs/glossary.md); other words with `mirrored` do.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAMES = re.compile(r"rocket|rabbit|amqp|remoting|mirrored(?!_on\b)", re.IGNORECASE)
PARTS = ("faults", "harness", "spark_analysis")
# Who may: systems, clients' families, and the workers and the agent in what they do for these.
OWN = (
    "harness/systems/",
    "harness/plan/clients/",
    "harness/workers/agent",
    "harness/workers/clients/",
    "harness/workers/remoting/",
    "harness/workers/rocketmq/",
)


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
    assert not found, f"{module} names {found}: let the system or the client declare it"


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
        "x = 'reference-mirrored'",
        "x = f'{a} speaks AMQP'",
        "REMOTING = 1",
    ],
)
def test_a_name_is_seen_wherever_it_stands(source: str) -> None:
    assert list(named(source))


def test_texts_for_people_are_no_names() -> None:
    assert not list(named('"""RocketMQ does so."""\n\ndef f():\n    """RabbitMQ."""  # AMQP'))


def test_whether_a_queue_has_mirrors_comes_from_its_family() -> None:
    assert not list(named("promises.mirrored_on"))
    assert list(named("x.mirrored_once"))
