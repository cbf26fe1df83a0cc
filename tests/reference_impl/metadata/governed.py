"""A queue, policies over it, and tables that hold both."""

from typing import Any

from reference_impl.metadata.tables import Policy, Queue, Tables
from reference_impl.pid import Pid

QUEUE = Queue("q", True, False, None, {}, "a", Pid("a", 1, 2), (), (), ())


def policy(name: str = "p", pattern: str = ".*", priority: int = 0, **definition: Any) -> Policy:
    keys = {key.replace("_", "-"): value for key, value in definition.items()}
    return Policy(name, pattern, keys, priority, "all")


def tables(*policies: Policy, queues: tuple[Queue, ...] = ()) -> Tables:
    return Tables(policies={it.name: it for it in policies}, queues={it.name: it for it in queues})
