"""Commands that this node's processes wait for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reference_impl.metadata.messages import Id
from reference_impl.pid import Pid


@dataclass(frozen=True, slots=True)
class Settle:
    """A local process's command is carried out everywhere."""

    pid: Pid
    request: int
    result: Any


@dataclass(slots=True)
class _PendingRequest:
    pid: Pid
    request: int
    command: Any
    version: int | None = None  # None: not carried out here yet
    result: Any = None


class Requests:
    def __init__(self, node: str, boot: int) -> None:
        self._node, self._boot = node, boot
        self._counter = 0
        self._waiting: dict[int, _PendingRequest] = {}  # by counter

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, pid: Pid, request: int, command: Any) -> Id:
        self._counter += 1
        self._waiting[self._counter] = _PendingRequest(pid, request, command)
        return Id(self._node, self._boot, self._counter)

    def carried_out(self, id_: Id, version: int, result: Any) -> None:
        if (id_.node, id_.boot) == (self._node, self._boot) and id_.counter in self._waiting:
            waiting = self._waiting[id_.counter]
            waiting.version, waiting.result = version, result

    def open(self) -> Iterator[tuple[Id, Any]]:
        """Yield those not carried out here yet, in their order."""
        for counter, waiting in list(self._waiting.items()):
            if waiting.version is None:
                yield Id(self._node, self._boot, counter), waiting.command

    def settle(self, stable: int) -> list[Settle]:
        """Return those that every member has carried out, in their order; each once."""
        settled: list[Settle] = []
        for counter, waiting in list(self._waiting.items()):
            if waiting.version is not None and waiting.version <= stable:
                del self._waiting[counter]
                settled.append(Settle(waiting.pid, waiting.request, waiting.result))
        return settled
