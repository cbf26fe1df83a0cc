"""PURE: which queues are a member's own: as AllocateMessageQueueAveragely of the Java client."""

from collections.abc import Sequence

Place = tuple[str, int]  # a broker's name, and the number of a queue


def share(queues: Sequence[Place], members: Sequence[str], own: str) -> list[Place]:
    """A run of neighbours, in the order of brokers and numbers; none for who is no member."""
    if own not in members:
        return []
    every, names = sorted(queues), sorted(set(members))
    place, size = names.index(own), len(names)
    each, more = divmod(len(every), size)
    start = place * each + min(place, more)
    return every[start : start + each + (place < more)]
