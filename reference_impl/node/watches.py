"""Watches between processes, as far as one node has to know.

1. A watch is kept on both nodes: here those of our processes, and those of others on ours.
2. A watcher gets one Down; a watch that has ended is forgotten.
"""

from collections import defaultdict
from collections.abc import Iterator

from reference_impl.pid import Pid


class Watches:
    """Pairs of watcher and watched, found from both ends."""

    def __init__(self) -> None:
        self._watchers: defaultdict[Pid, set[Pid]] = defaultdict(set)
        self._watched: defaultdict[Pid, set[Pid]] = defaultdict(set)

    def add(self, watcher: Pid, pid: Pid) -> bool:
        """False where it was there already."""
        if pid in self._watched.get(watcher, ()):
            return False
        self._watchers[pid].add(watcher)
        self._watched[watcher].add(pid)
        return True

    def remove(self, watcher: Pid, pid: Pid) -> bool:
        """False where it was not there."""
        if pid not in self._watched.get(watcher, ()):
            return False
        _discard(self._watchers, pid, watcher)
        _discard(self._watched, watcher, pid)
        return True

    def ended(self, pid: Pid) -> tuple[Pid, ...]:
        """Forgets a process that ended: who watched it, in a stable order."""
        for watched in self._watched.pop(pid, ()):
            _discard(self._watchers, watched, pid)
        watchers = self._watchers.pop(pid, set())
        for watcher in watchers:
            _discard(self._watched, watcher, pid)
        return tuple(sorted(watchers))

    def of_node(self, node: str) -> Iterator[Pid]:
        """Every process of a node that watches or is watched."""
        pids = {*self._watchers, *self._watched}
        yield from sorted(pid for pid in pids if pid.node == node)


def _discard(pairs: defaultdict[Pid, set[Pid]], key: Pid, value: Pid) -> None:
    pairs[key].discard(value)
    if not pairs[key]:
        del pairs[key]
