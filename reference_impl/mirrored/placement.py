"""Placement of a queue's master and mirrors (docs/behaviour/rabbitmq.md items 1 to 14).

1. One policy governs a queue, or none does (metadata/governing.py).
2. `all`: every running node. `exactly`: the count includes the master; it grows by nodes drawn at
   random, and shrinks to the oldest mirrors. `nodes`: those listed that run.
3. A master that `nodes` excludes stays as long as no mirror is synchronised; then it gives way to
   a synchronised mirror, a listed one if there is any.
4. A new queue's master: argument, then policy, then the node that declares it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from reference_impl.metadata.governing import governing
from reference_impl.metadata.tables import Policy, Queue, Tables

LOCATOR_ARGUMENT, LOCATOR_KEY = "x-queue-master-locator", "queue-master-locator"
_NODE_PREFIX = "rabbit@"  # policies may name nodes as the management API does


@dataclass(frozen=True, slots=True)
class Placed:
    """Nodes of a queue. Mirrors: the oldest first; synchronised: the latest first."""

    master: str
    mirrors: tuple[str, ...]
    synchronised: tuple[str, ...] = ()


def suggested(
    policy: Policy | None, placed: Placed, running: Sequence[str], chance: Random
) -> Placed:
    """Return the place where the queue should be, given where it is."""
    definition = {} if policy is None else policy.definition
    match definition.get("ha-mode"):
        case "all":
            return Placed(placed.master, _without(running, placed.master))
        case "exactly":
            return _exactly(int(definition["ha-params"]), placed, running, chance)
        case "nodes":
            return _nodes(_listed(definition), placed, running)
    return Placed(placed.master, ())


def first_node(
    tables: Tables, queue: Queue, here: str, running: Sequence[str], chance: Random
) -> str:
    """Return the node where the master of a new queue starts."""
    if queue.owner is not None:
        return here
    policy = governing(tables, queue)
    definition = {} if policy is None else policy.definition
    locator = queue.arguments.get(LOCATOR_ARGUMENT) or definition.get(LOCATOR_KEY)
    nodes = _eligible(definition, running)
    match locator:
        case "min-masters":
            homes = [record.home for record in tables.queues.values()]
            return min(nodes, key=homes.count)
        case "random":
            return chance.choice(nodes)
    return here


def _exactly(count: int, placed: Placed, running: Sequence[str], chance: Random) -> Placed:
    wanted = count - 1
    if wanted <= len(placed.mirrors):
        return Placed(placed.master, placed.mirrors[:wanted])
    unused = list(_without(running, placed.master, *placed.mirrors))
    chance.shuffle(unused)
    return Placed(placed.master, (*placed.mirrors, *unused[: wanted - len(placed.mirrors)]))


def _nodes(listed: list[str], placed: Placed, running: Sequence[str]) -> Placed:
    wanted = listed if placed.synchronised else [placed.master, *listed]
    available = sorted({node for node in wanted if node in running})
    if not available:
        return Placed(placed.master, ())
    master = placed.master
    if master not in available:
        moving = [node for node in available if node in placed.synchronised]
        master = (moving or placed.synchronised)[0]
    return Placed(master, _without(available, master))


def _eligible(definition: dict[str, Any], running: Sequence[str]) -> list[str]:
    if definition.get("ha-mode") == "nodes":
        listed = [node for node in _listed(definition) if node in running]
        if listed:
            return listed
    return list(running)


def _listed(definition: dict[str, Any]) -> list[str]:
    return [str(node).removeprefix(_NODE_PREFIX) for node in definition["ha-params"]]


def _without(nodes: Sequence[str], *excluded: str) -> tuple[str, ...]:
    return tuple(node for node in nodes if node not in excluded)
