"""The management API's answers about queues.

1. The masters give the counts, unless the request says `disable_stats=true`: then none is
   asked, so that a master that hangs holds nothing up.
2. Counts that a master does not report within COUNTS_LIMIT_MS are left out of the answer.
3. A queue whose home is down is listed, but not found by its name: one without mirrors, and any
   where all were down (item 1).
4. A deletion or a purge that is not confirmed in CHANGE_LIMIT_MS is an error, not a success.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from reference_impl.metadata.governing import is_mirrored
from reference_impl.metadata.tables import Queue
from reference_impl.node import http
from reference_impl.node.api_json import queue_json
from reference_impl.node.http import Request
from reference_impl.node.questions import Questions
from reference_impl.pid import Pid
from reference_impl.process import SUPERVISOR, Effect, Send, World
from reference_impl.protocol.queues import (
    CancelSync,
    Delete,
    DeleteRecord,
    Done,
    Look,
    Looked,
    LookHere,
    Purge,
    Refused,
    Synchronise,
)

COUNTS_LIMIT_MS = 2000
CHANGE_LIMIT_MS = 60_000
_NOT_FOUND = 404
_ACTIONS: dict[str, Callable[[], Any]] = {"sync": Synchronise, "cancel_sync": CancelSync}


class _Action(msgspec.Struct):
    action: str


class QueueAnswers:
    def __init__(self, pid: Pid, world: World, questions: Questions) -> None:
        self._pid = pid
        self._world = world
        self._questions = questions
        self.routes: http.Routes = {
            ("GET", "queues"): self._list,
            ("GET", "queues/vhost"): self._list,
            ("GET", "queues/vhost/*"): self._show,
            ("DELETE", "queues/vhost/*"): self._delete,
            ("DELETE", "queues/vhost/*/contents"): self._purge,
            ("POST", "queues/vhost/*/actions"): self._act,
        }

    def _list(self, request: Request) -> list[Effect]:
        queues = [queue for _, queue in sorted(self._world.tables.queues.items())]

        def finish(looked: dict[Pid, Any]) -> list[Effect]:
            return http.answer(request, [self._json(queue, looked) for queue in queues])

        return self._with_counts(request, queues, finish)

    def _show(self, request: Request) -> list[Effect]:
        queue = self._found(request)
        if queue is None:
            return http.not_found(request)
        if request.flag("held_here"):
            return self._held_here(request, queue)

        def finish(looked: dict[Pid, Any]) -> list[Effect]:
            return http.answer(request, self._json(queue, looked))

        return self._with_counts(request, [queue], finish)

    def _held_here(self, request: Request, queue: Queue) -> list[Effect]:
        """Answer what this node's own copy holds, if it is a mirror's."""
        own = [pid for pid in queue.mirrors if pid.node == self._world.node]

        def finish(looked: dict[Pid, Any]) -> list[Effect]:
            described = self._json(queue, looked)
            counts = [one.ready for one in looked.values() if isinstance(one, Looked)]
            return http.answer(request, {**described, "held_here": counts[0] if counts else None})

        queries = dict.fromkeys(own, lambda number: LookHere(self._pid, number))
        return self._questions.ask(queries, COUNTS_LIMIT_MS, finish)

    def _with_counts(
        self, request: Request, queues: list[Queue], finish: Callable[[dict[Pid, Any]], Any]
    ) -> list[Effect]:
        masters = [master for queue in queues if (master := self._master(queue)) is not None]
        if request.flag("disable_stats"):
            masters = []
        looks = dict.fromkeys(masters, self._look)
        return self._questions.ask(looks, COUNTS_LIMIT_MS, finish)

    def _look(self, number: int) -> Look:
        return Look(self._pid, number)

    def _json(self, queue: Queue, looked: dict[Pid, Any]) -> dict[str, Any]:
        counts = None if queue.master is None else looked.get(queue.master)
        return queue_json(self._world, queue, counts if isinstance(counts, Looked) else None)

    def _delete(self, request: Request) -> list[Effect]:
        queue = self._world.tables.queues.get(request.name)
        if queue is None:
            return http.not_found(request)
        master, name = self._master(queue), request.name
        if_unused, if_empty = request.flag("if-unused"), request.flag("if-empty")
        if master is None:
            supervisor = Pid(self._world.node, self._pid.boot, SUPERVISOR)
            return self._change(request, supervisor, lambda it: DeleteRecord(self._pid, it, name))
        return self._change(request, master, lambda it: Delete(self._pid, it, if_unused, if_empty))

    def _purge(self, request: Request) -> list[Effect]:
        queue = self._found(request)
        master = None if queue is None else self._master(queue)
        if master is None:
            return http.not_found(request)
        return self._change(request, master, lambda it: Purge(self._pid, it))

    def _change(self, request: Request, pid: Pid, message: Callable[[int], Any]) -> list[Effect]:
        def finish(answers: dict[Pid, Any]) -> list[Effect]:
            match answers.get(pid):
                case Done():
                    return http.done(request)
                case Refused(code=code, text=text):
                    is_missing = code == _NOT_FOUND
                    return http.not_found(request) if is_missing else http.bad(request, text)
            return http.error(request, 500, "the queue did not answer")

        return self._questions.ask({pid: message}, CHANGE_LIMIT_MS, finish)

    def _act(self, request: Request) -> list[Effect]:
        queue = self._found(request)
        master = None if queue is None else self._master(queue)
        if master is None:
            return http.not_found(request)
        try:
            action = msgspec.json.decode(request.body, type=_Action).action
        except http.UNREADABLE as error:
            return http.bad(request, str(error))
        if action not in _ACTIONS:
            return http.bad(request, f"action {action} is none of {', '.join(_ACTIONS)}")
        return [Send(master, _ACTIONS[action]()), *http.done(request)]

    def _master(self, queue: Queue) -> Pid | None:
        master = queue.master
        return master if master is not None and self._world.alive(master) else None

    def _found(self, request: Request) -> Queue | None:
        queue = self._world.tables.queues.get(request.name)
        if queue is None or self._master(queue) is not None:
            return queue
        is_found = is_mirrored(self._world.tables, queue) and not queue.is_absent
        return queue if is_found else None
