"""Which queues each publisher and each consumer of a workload serves.

1. With as many clients as queues, or more, each serves one queue: client i the queue i modulo the
   number of queues.
2. With fewer, the queues are dealt to them in turn: of 200 queues and 8 clients, client 1 serves
   the queues 1, 9, 17, ...
"""

from collections.abc import Sequence

from harness.plan.workload import Workload

NAMED_MAX = 8  # of more queues, texts name the first and the last


def served(workload: Workload, count: int, index: int) -> tuple[str, ...]:
    """Return the queues of client `index` (from 0) of `count`."""
    queues = workload.queues
    if count >= len(queues):
        return (queues[index % len(queues)],)
    return queues[index::count]


def consumers_of(workload: Workload, queue: str) -> int:
    """Return how many consumers of the workload read the queue."""
    count = workload.consumers
    return sum(queue in served(workload, count, index) for index in range(count))


def serves_several(workload: Workload) -> bool:
    """Return whether a publisher or a consumer serves more than one queue."""
    least = min(count for count in (workload.publishers, workload.consumers) if count)
    return least < len(workload.queues)


def generated(count: int) -> list[str]:
    """Return the names of so many queues."""
    return [f"queue-{number}" for number in range(1, count + 1)]


def named(queues: Sequence[str]) -> str:
    """Return the queues for people: each of few, the first and the last of many."""
    if len(queues) <= NAMED_MAX:
        return ", ".join(queues)
    return f"{queues[0]} to {queues[-1]} ({len(queues)} queues)"
