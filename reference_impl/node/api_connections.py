"""The management API's answers about client connections.

1. Every running node is asked for its own.
2. Without a word of every node that is not gone there is no list, but an error: a connection that
   is missing in a list would be taken for closed.
3. A connection is closed by its process, which tells its client.
"""

from collections.abc import Callable
from typing import Any

from reference_impl.node import http
from reference_impl.node.api_json import connection_json
from reference_impl.node.http import Request
from reference_impl.node.questions import Questions
from reference_impl.pid import Pid
from reference_impl.process import API, Effect, Send, World
from reference_impl.protocol.connections import (
    CloseConnection,
    Connections,
    Described,
    ListConnections,
)

LIST_LIMIT_MS = 3000
CLOSED = "Closed via management plugin"


class ConnectionAnswers:
    def __init__(self, pid: Pid, world: World, questions: Questions) -> None:
        self._pid = pid
        self._world = world
        self._questions = questions
        self.routes: http.Routes = {
            ("GET", "connections"): self._list,
            ("GET", "connections/*"): self._show,
            ("DELETE", "connections/*"): self._close,
        }

    def _list(self, request: Request) -> list[Effect]:
        def finish(listed: list[Described]) -> list[Effect]:
            return http.answer(request, [connection_json(one) for one in listed])

        return self._with_all(request, finish)

    def _show(self, request: Request) -> list[Effect]:
        def finish(listed: list[Described]) -> list[Effect]:
            for one in listed:
                if one.name == request.name:
                    return http.answer(request, connection_json(one))
            return http.not_found(request)

        return self._with_all(request, finish)

    def _close(self, request: Request) -> list[Effect]:
        def finish(listed: list[Described]) -> list[Effect]:
            named = [one.pid for one in listed if one.name == request.name]
            closing: list[Effect] = [Send(pid, CloseConnection(CLOSED)) for pid in named]
            return [*closing, *http.done(request)] if named else http.not_found(request)

        return self._with_all(request, finish)

    def _with_all(
        self, request: Request, finish: Callable[[list[Described]], list[Effect]]
    ) -> list[Effect]:
        pids = [self._world.well_known(node, API) for node in self._world.running()]
        others = [pid for pid in pids if pid is not None and pid != self._pid]

        def listed(answers: dict[Pid, Any]) -> list[Effect]:
            if answers.keys() != set(others):
                return http.error(request, 500, "a node does not answer")
            replies = [one for one in answers.values() if isinstance(one, Connections)]
            every = [
                *self._world.connections(),
                *(it for one in replies for it in one.connections),
            ]
            return finish(every)

        return self._questions.ask(dict.fromkeys(others, self._question), LIST_LIMIT_MS, listed)

    def _question(self, number: int) -> ListConnections:
        return ListConnections(self._pid, number)
