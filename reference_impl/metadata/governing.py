"""The policy that governs a queue, and its settings (docs/behaviour/rabbitmq.md items 2, 8 to 10,
43 to 45).

1. One policy governs a queue: of those whose pattern matches its name, the one with the highest
   priority; among equals the first by name. Exclusive queues have none.
2. Where copies should be is mirrored/placement.py's; what is here needs no running nodes.
"""

from typing import Any

from reference_impl.metadata.patterns import matches
from reference_impl.metadata.tables import Policy, Queue, Tables

WHEN_SYNCED, ALWAYS = "when-synced", "always"
SYNC_BATCH = 4096  # mirroring_sync_batch_size


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
        if policy.apply_to in ("all", "queues") and matches(policy.pattern, name)
    ]
    return min(matching, key=lambda policy: (-policy.priority, policy.name), default=None)


def setting(tables: Tables, queue: Queue, key: str, default: Any) -> Any:
    policy = governing(tables, queue)
    return default if policy is None else policy.definition.get(key, default)


def is_mirrored(tables: Tables, queue: Queue) -> bool:
    """Return whether policy wants mirrors, however many there are."""
    return bool(setting(tables, queue, "ha-mode", ""))


def may_promote(tables: Tables, queue: Queue) -> bool:
    """Return whether a mirror may take over after the master was lost (items 44, 45)."""
    mode = setting(tables, queue, "ha-promote-on-failure", ALWAYS)
    return mode != WHEN_SYNCED or bool(queue.synchronised)


def leaves_on_shutdown(tables: Tables, queue: Queue) -> bool:
    """Return whether a master that is stopped gracefully leaves the queue to its mirrors (item
    43)."""
    mode = setting(tables, queue, "ha-promote-on-shutdown", WHEN_SYNCED)
    return mode == ALWAYS or bool(queue.synchronised)


def synchronises_by_itself(tables: Tables, queue: Queue) -> bool:
    return bool(setting(tables, queue, "ha-sync-mode", "manual") == "automatic")


def sync_batch(tables: Tables, queue: Queue) -> int:
    size = setting(tables, queue, "ha-sync-batch-size", SYNC_BATCH)
    return SYNC_BATCH if size <= 1 else int(size)
