"""Clients that take dead ones' places while there is load."""

import time

from harness.cluster.started_clients import StartedClients
from harness.run.interrupts import RunInterrupted
from harness.run.prepared import Prepared
from harness.run.worker_handles import WorkerHandle
from spark_analysis.schema.facts import Absence


class ClientReplacement:
    """The replacements of one run. `workers` gets each new client; once `over`, none is needed."""

    def __init__(
        self, prepared: Prepared, started: StartedClients, workers: list[WorkerHandle]
    ) -> None:
        self._prepared = prepared
        self._started = started
        self._workers = workers
        self.over = False

    async def replace(self, client: str) -> Absence | None:
        """Start a client in a dead one's place. Return the absence; None if none is needed, or if
        one was started before: an undo may be repeated."""
        stage = self._prepared.stage
        role = stage.roles_of_worker.pop(client, None)
        if role is None:
            return None
        if self.over:
            self._started.set_successor(client, "")
            return None
        dead = next(worker for worker in self._workers if worker.name == client)
        try:
            new = await stage.interrupt.unless(self._prepared.succeed(dead))
        except RunInterrupted:
            self._started.set_successor(client, "")
            return None
        self._workers.append(new)
        starts_ns = time.monotonic_ns()
        await new.send("start", at_ns=starts_ns + new.clock.offset_ns)
        stage.roles_of_worker[new.name] = role
        stage.numbers[new.name] = new.config.number
        self._started.set_successor(client, new.name)
        return Absence(new.config.number, 0, starts_ns - stage.origin_ns)
