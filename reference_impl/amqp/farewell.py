"""The deletion of a connection's exclusive queues before its last word
(docs/behaviour/rabbitmq.md 2.1).

1. Each of their masters gets a request, and is waited for until it has answered or is gone.
2. Queues whose declaration is still under way are not seen here: their masters watch the owner.
"""

from typing import Any

from reference_impl.pid import Pid
from reference_impl.process import Down, Effect, Send, Watch, World
from reference_impl.protocol.queues import Delete, Done, Refused


class Farewell:
    """A deletion under way. `over` as soon as no master is waited for any more."""

    def __init__(self, owner: Pid, world: World) -> None:
        self._owner = owner
        self._world = world
        self._awaited: dict[int, Pid] = {}  # by request

    @property
    def over(self) -> bool:
        return not self._awaited

    def begin(self) -> list[Effect]:
        effects: list[Effect] = []
        owned = [it for it in self._world.tables.queues.values() if it.owner == self._owner]
        for request, record in enumerate(owned, start=1):
            master = record.master
            if master is not None and self._world.alive(master):
                self._awaited[request] = master
                delete = Delete(self._owner, request, if_unused=False, if_empty=False)
                effects += [Watch(master), Send(master, delete)]
        return effects

    def hear(self, event: Any) -> None:
        if isinstance(event, Done | Refused):
            self._awaited.pop(event.request, None)
        elif isinstance(event, Down):
            for request, master in list(self._awaited.items()):
                if master == event.pid:
                    del self._awaited[request]
