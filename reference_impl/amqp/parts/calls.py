"""Requests that a channel waits for: to a queue's master, to the supervisor, to the tables.

1. A call is a generator, as Erlang's channel process is blocked in a call: it yields, and what its
   channel sends it is the answer, or Down of the called process, or the end of a pause.
2. A request that needs a master is made again `retry_ms` after the master was found gone, up to
   `retries_max` times; then it is 404 (items 39, 43). A queue that is known to be lost with its
   home node is 404 at once (item 1).
3. A refusal raises AmqpError with the code and text of the refusing process.

one call:  look for the master --alive--> ask --answer--> done
                               --not-->  pause --over--> look again
                                          ask --Down--> pause
"""

from collections.abc import Callable, Generator
from typing import Any

from reference_impl.amqp.rules.errors import AmqpError, home_is_down, no_master, no_queue
from reference_impl.amqp.rules.routing import home_is_lost
from reference_impl.amqp.session import Outbox
from reference_impl.metadata.tables import Denied, Queue
from reference_impl.pid import Pid
from reference_impl.process import SUPERVISOR, Arm, Committed, Down, Timeout, Transact, World
from reference_impl.protocol.queues import Done, Got, Looked, Refused, Started

Steps = Generator[None, Any, None]
Asking = Callable[[Pid, int], Any]  # own pid and request number -> message
_ANSWERS = frozenset({Done, Got, Looked, Refused, Started, Committed})
_PAUSE = "pause"


class Calls:
    """The one call that a channel may be in."""

    def __init__(self, pid: Pid, world: World, outbox: Outbox) -> None:
        self.pausing = False
        self.pid = pid
        self._world = world
        self._outbox = outbox
        self._settings = outbox.session.settings
        self._request = 0
        self._callee: Pid | None = None

    def is_answer(self, event: Any) -> bool:
        """Return whether the call waits for just this."""
        kind = type(event)
        if self.pausing:
            return kind is Timeout and event.name == _PAUSE
        if kind is Down:
            return bool(event.pid == self._callee)
        return kind in _ANSWERS and event.request == self._request

    def record(self, name: str) -> Queue:
        """Raises 404 where there is no such queue, or none that can be reached."""
        tables = self._world.tables
        record = tables.queues.get(name)
        if record is None:
            raise no_queue(name)
        if home_is_lost(tables, record):
            raise home_is_down(name, record.home)
        return record

    def master(self, name: str, asking: Asking) -> Generator[None, Any, tuple[Pid, Any]]:
        """Call the queue's master of that moment. Return its pid and answer."""
        for _ in range(self._settings.retries_max):
            master = self.record(name).master
            if master is not None and self._world.alive(master):
                answer = yield from self.ask(master, asking)
                if answer is not None:
                    return master, answer
            yield from self.pause(self._settings.retry_ms)
        raise no_master(name)

    def ask(self, pid: Pid, asking: Asking) -> Generator[None, Any, Any]:
        """None where it ended before it answered."""
        self._outbox.watch(pid)
        self._callee = pid
        try:
            answer = yield from self._answer(asking, pid)
        finally:
            self._callee = None
        return None if type(answer) is Down else answer

    def supervisor(self, asking: Asking) -> Generator[None, Any, Any]:
        """Asks the supervisor of the channel's own node, which lives as long as the channel."""
        supervisor = self._world.well_known(self._world.node, SUPERVISOR)
        assert supervisor is not None, "a node that runs has a supervisor"
        return (yield from self._answer(asking, supervisor))

    def commit(self, command: Any) -> Steps:
        """Has a command carried out on the tables; raises what it was denied with."""
        self._request += 1
        self._outbox.add(Transact(self._request, command))
        committed: Committed = yield
        if isinstance(committed.result, Denied):
            raise AmqpError(committed.result.code, committed.result.text)

    def pause(self, pause_ms: int) -> Steps:
        self._outbox.add(Arm(_PAUSE, pause_ms))
        self.pausing = True
        yield
        self.pausing = False

    def _answer(self, asking: Asking, to: Pid) -> Generator[None, Any, Any]:
        self._request += 1
        self._outbox.send(to, asking(self.pid, self._request))
        answer = yield
        if type(answer) is Refused:
            raise AmqpError(answer.code, answer.text)
        return answer
