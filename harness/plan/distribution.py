"""Which queues each publisher and each consumer of a workload serves.

1. With as many clients as queues, or more, each serves one queue: client i the queue i modulo the
   number of queues.
2. With fewer, the queues are dealt to them in turn: of 200 queues and 8 clients, client 1 serves
   the queues 1, 9, 17, ...
3. If there are consumer groups, each has a queue of its own of every queue, and consumers of its
   own, who share its queues in the same way: first those of the first group.
"""

from collections.abc import Mapping, Sequence

from harness.plan.workload import Workload

NAMED_MAX = 8  # of more queues, texts name the first and the last


def served(workload: Workload, count: int, index: int) -> tuple[str, ...]:
    """Return the queues of client `index` (from 0) of `count`."""
    queues = workload.queues
    if count >= len(queues):
        return (queues[index % len(queues)],)
    return queues[index::count]


def groups(workload: Workload) -> Mapping[str, Mapping[str, str]]:
    """Return the queues of each consumer group, by the queues that publishers send to."""
    return {
        group: {queue: f"{queue}-{group}" for queue in workload.queues}
        for group in workload.consumer_groups
    }


def read_queues(workload: Workload) -> tuple[str, ...]:
    """Return the queues that consumers and the drain read."""
    by_group = groups(workload).values()
    own = tuple(names[queue] for queue in workload.queues for names in by_group)
    return own or workload.queues


def consumers_in_all(workload: Workload) -> int:
    """Return how many consumers there are in all groups."""
    return workload.consumers * max(1, len(workload.consumer_groups))


def group_reading(workload: Workload, queue: str) -> str:
    """Return the consumer group that reads the queue; "" where it is no group's."""
    found = (name for name, own in groups(workload).items() if queue in own.values())
    return next(found, "")


def sent_by(workload: Workload, index: int) -> tuple[str, ...]:
    """Return the queues that publisher `index` (from 0) sends to."""
    return served(workload, workload.publishers, index)


def read_by(workload: Workload, index: int) -> tuple[str, ...]:
    """Return the queues that consumer `index` (from 0) reads."""
    count, by_group = workload.consumers, [*groups(workload).values()]
    shared = served(workload, count, index % count)
    return tuple(by_group[index // count][queue] for queue in shared) if by_group else shared


def consumers_of(workload: Workload, queue: str) -> int:
    """Return how many consumers of the workload read the queue."""
    every = range(consumers_in_all(workload))
    return sum(queue in read_by(workload, index) for index in every)


def serves_several(workload: Workload) -> bool:
    """Return whether a publisher or a consumer serves more than one queue."""
    least = min(count for count in (workload.publishers, workload.consumers) if count)
    return least < len(workload.queues)


def generated(count: int) -> list[str]:
    """Return the names of so many queues."""
    return [f"queue-{number}" for number in range(1, count + 1)]


def generated_groups(count: int) -> list[str]:
    """Return the names of so many consumer groups; of one none, for all consumers are that."""
    return [f"group-{number}" for number in range(1, count + 1)] if count > 1 else []


def named(queues: Sequence[str]) -> str:
    """Return the queues for people: each of few, the first and the last of many."""
    if len(queues) <= NAMED_MAX:
        return ", ".join(queues)
    return f"{queues[0]} to {queues[-1]} ({len(queues)} queues)"
