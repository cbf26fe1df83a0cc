"""Where a queue's master and mirrors should be (docs/behaviour/rabbitmq.md items 1 to 14).

1. One policy governs a queue: of those whose pattern matches its name, the one with the highest
   priority; among equals the first by name. Exclusive queues have none.
2. `all`: every running node. `exactly`: the count includes the master; it grows by nodes drawn at
   random, and shrinks to the oldest mirrors. `nodes`: those listed that run.
3. A master that `nodes` excludes stays as long as no mirror is synchronised; then it gives way to
   a synchronised mirror, a listed one if there is any.
4. A new queue's master: argument, then policy, then the node that declares it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from reference_impl.metadata.tables import Policy, Queue, Tables

LOCATOR_ARGUMENT, LOCATOR_KEY = "x-queue-master-locator", "queue-master-locator"
WHEN_SYNCED, ALWAYS = "when-synced", "always"
SYNC_BATCH = 4096  # mirroring_sync_batch_size
_NODE_PREFIX = "rabbit@"  # policies may name nodes as the management API does


@dataclass(frozen=True, slots=True)
class Placed:
    """Nodes of a queue. Mirrors: the oldest first; synchronised: the latest first."""

    master: str
    mirrors: tuple[str, ...]
    synchronised: tuple[str, ...] = ()


def governing(tables: Tables, queue: Queue) -> Policy | None:
    """The policy that applies to the queue."""
    if queue.owner is not None:
        return None
    return governing_name(tables, queue.name)


def governing_name(tables: Tables, name: str) -> Policy | None:
    """The policy that would apply to a queue of that name."""
    matching = [
        policy
        for policy in tables.policies.values()
        if policy.apply_to in ("all", "queues") and re.search(policy.pattern, name)
    ]
    return min(matching, key=lambda policy: (-policy.priority, policy.name), default=None)


def setting(tables: Tables, queue: Queue, key: str, default: Any) -> Any:
    policy = governing(tables, queue)
    return default if policy is None else policy.definition.get(key, default)


def is_mirrored(tables: Tables, queue: Queue) -> bool:
    """Whether policy wants mirrors, however many there are."""
    return bool(setting(tables, queue, "ha-mode", ""))


def may_promote(tables: Tables, queue: Queue) -> bool:
    """Whether a mirror may take over after the master was lost (items 44, 45)."""
    mode = setting(tables, queue, "ha-promote-on-failure", ALWAYS)
    return mode != WHEN_SYNCED or bool(queue.synchronised)


def hands_over(tables: Tables, queue: Queue) -> bool:
    """Whether a master that is stopped gracefully leaves the queue to its mirrors (item 43)."""
    mode = setting(tables, queue, "ha-promote-on-shutdown", WHEN_SYNCED)
    return mode == ALWAYS or bool(queue.synchronised)


def synchronises_by_itself(tables: Tables, queue: Queue) -> bool:
    return bool(setting(tables, queue, "ha-sync-mode", "manual") == "automatic")


def sync_batch(tables: Tables, queue: Queue) -> int:
    size = setting(tables, queue, "ha-sync-batch-size", SYNC_BATCH)
    return SYNC_BATCH if size <= 1 else int(size)


def suggested(
    policy: Policy | None, placed: Placed, running: Sequence[str], chance: Random
) -> Placed:
    """Where the queue should be, given where it is."""
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
    """Where the master of a new queue starts."""
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
