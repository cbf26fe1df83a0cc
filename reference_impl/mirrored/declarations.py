"""Declarations that are not answered yet, here and at other nodes' supervisors.

1. Who declares a queue while it is being declared gets the same answer.
2. A declaration that another node's supervisor carries out is made again when that one is lost.
"""

from dataclasses import dataclass

from reference_impl.metadata.tables import Queue
from reference_impl.mirrored.messages import MasterStarted, StartMaster
from reference_impl.pid import Pid
from reference_impl.process import SUPERVISOR, Effect, Send, Watch
from reference_impl.protocol.queues import Started, StartQueue


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    supervisor: Pid
    event: StartQueue


class Declarations:
    def __init__(self, supervisor: Pid) -> None:
        self._supervisor = supervisor
        self._askers: dict[str, list[tuple[Pid, int]]] = {}
        self._elsewhere: dict[int, _Elsewhere] = {}
        self._request = 0

    def __contains__(self, name: str) -> bool:
        return name in self._askers

    def add(self, name: str, asker: Pid, request: int) -> None:
        self._askers.setdefault(name, []).append((asker, request))

    def answer(self, name: str) -> list[Effect]:
        return [started(asker, request) for asker, request in self._askers.pop(name, [])]

    def pass_on(self, supervisor: Pid, event: StartQueue) -> list[Effect]:
        """To the supervisor of the node that was chosen."""
        self._request += 1
        self._elsewhere[self._request] = _Elsewhere(supervisor, event)
        start = StartMaster(self._supervisor, self._request, event)
        return [Watch(supervisor), Send(supervisor, start)]

    def answered(self, event: MasterStarted) -> list[Effect]:
        elsewhere = self._elsewhere.pop(event.request, None)
        if elsewhere is None:
            return []
        return [started(elsewhere.event.channel, elsewhere.event.request)]

    def lost(self, supervisor: Pid) -> list[StartQueue]:
        """Return the requests that have to be made again."""
        lost = [it for it, where in self._elsewhere.items() if where.supervisor == supervisor]
        return [self._elsewhere.pop(request).event for request in lost]


def started(asker: Pid, request: int) -> Send:
    """`asker`: a channel, or another node's supervisor."""
    is_supervisor = asker.number == SUPERVISOR
    return Send(asker, MasterStarted(request) if is_supervisor else Started(request))


def record_of(event: StartQueue, home: str, master: Pid | None) -> Queue:
    """An exclusive queue is never durable (item 14)."""
    return Queue(
        name=event.name,
        durable=event.durable and event.owner is None,
        auto_delete=event.auto_delete,
        owner=event.owner,
        arguments=event.arguments,
        home=home,
        master=master,
        mirrors=(),
        synchronised=(),
        recoverable=(),
    )
