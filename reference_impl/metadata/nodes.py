"""Commands on the nodes of a cluster (docs/behaviour/rabbitmq.md items 53, 54).

1. A node that is admitted to a group is a member, until it is forgotten.
2. Only a node that does not run is forgotten, and its copies of queues with it.
3. A durable queue that waits for it is left to the first recoverable node that is a member and
   down: that one has it from its disk at its next boot. Where there is none, the queue is gone, as
   any other that it held. A mirror that lives and may take over is left to do so.
4. A command on a node that is down acts as if it was the only one: it may be that node itself.
"""

from collections.abc import Iterable

import msgspec

from reference_impl.metadata.records import may_take_over, remove_queue
from reference_impl.metadata.tables import Queue, Tables
from reference_impl.pid import Pid

NO_MEMBER, RUNS, FORGOTTEN = "no member", "runs", "forgotten"
NOT_FORGOTTEN = {  # in RabbitMQ's words
    NO_MEMBER: "The node {} is not in the cluster.",
    RUNS: "The node {} is running: it can only be forgotten when it is down.",
}


class ForgetNode(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The result: one of the words above; only by the last of them has anything changed."""

    node: str
    running: tuple[str, ...]

    def apply(self, tables: Tables) -> str:
        if self.node not in tables.nodes:
            return NO_MEMBER
        if self.node in self.running:
            return RUNS
        tables.nodes = _without(tables.nodes, self.node)
        tables.forgotten = tuple(sorted({*tables.forgotten, self.node}))
        for queue in list(tables.queues.values()):
            self._forget_copy(tables, queue)
        return FORGOTTEN

    def _forget_copy(self, tables: Tables, queue: Queue) -> None:
        left = msgspec.structs.replace(
            queue,
            mirrors=self._elsewhere(queue.mirrors),
            synchronised=self._elsewhere(queue.synchronised),
            recoverable=_without(queue.recoverable, self.node),
        )
        if queue.home == self.node and not self._is_taken_over(tables, left):
            self._leave_to_an_heir(tables, left)
        elif left != queue:
            tables.queues[queue.name] = left

    def _is_taken_over(self, tables: Tables, queue: Queue) -> bool:
        lives = any(pid.node in self.running for pid in queue.mirrors)
        return lives and may_take_over(tables, queue)

    def _leave_to_an_heir(self, tables: Tables, queue: Queue) -> None:
        able = (it for it in queue.recoverable if it in tables.nodes and it not in self.running)
        heir = next(able, None)
        if heir is None or not queue.durable:
            remove_queue(tables, queue.name)
            return
        tables.queues[queue.name] = msgspec.structs.replace(
            queue, home=heir, master=None, mirrors=(), synchronised=(), waits_for_home=False
        )

    def _elsewhere(self, pids: Iterable[Pid]) -> tuple[Pid, ...]:
        return tuple(pid for pid in pids if pid.node != self.node)


def admit(tables: Tables, node: str) -> None:
    """Part of the admission to a group."""
    tables.nodes = tuple(sorted({*tables.nodes, node}))
    tables.forgotten = _without(tables.forgotten, node)


def _without(nodes: tuple[str, ...], node: str) -> tuple[str, ...]:
    return tuple(it for it in nodes if it != node)
