"""What follows the load of a run: queues drained and audited, what the run left removed.

1. The audit starts brokers that did not recover by themselves (operations/auditor.py). So of runs
   that are played together none drains any more by then.
2. After an interrupt nothing is drained or audited, and tidying has a limit.
"""

import asyncio
import contextlib
import time

from harness.cluster.port import DeployError
from harness.run.core import conductor_protocol as c
from harness.run.live.state.parts import RunParts
from harness.run.operations.auditor import two_since
from harness.run.operations.rejoining import see_who_is_who
from spark_analysis.schema.facts import CompetingLeaders

TIDY_LIMIT_S = 3.0  # after an interrupt: the rest of the run is removed with its cluster


class AfterLoad:
    """The steps of one run after its load; the end of each is an event. `prefix`: that of the
    queues' names at the broker."""

    def __init__(self, parts: RunParts, prefix: str, events: asyncio.Queue[c.Event]) -> None:
        self._parts = parts
        self._prefix = prefix
        self._events = events

    async def drain(self) -> None:
        parts = self._parts
        if parts.stage.plan.schedule.steps:
            parts.manifest.state |= await parts.operating.facts()
        await see_who_is_who(parts.stage, parts.windows, parts.manifest.state)
        parts.manifest.queues = list(await parts.drain_and_audit.drain())
        self._events.put_nowait(c.Drained())

    async def audit(self) -> None:
        parts, manifest = self._parts, self._parts.manifest
        await parts.stage.participant.meet("audit")
        held = dict(parts.operating.held)
        for window in parts.windows.values():
            held |= window.held
        await parts.auditor.start_once(held, parts.operating.joined)
        started = parts.auditor.started
        ended = await parts.drain_and_audit.audit(manifest.queues, frozenset(started))
        parts.auditor.note_read(manifest.queues, ended.queues)
        manifest.queues = list(ended.queues)
        until = parts.stage.run_ns(time.monotonic_ns())
        origins_ns = [window.facts.origin_ns for window in parts.windows.values()]
        manifest.competing_leaders = [
            CompetingLeaders(queue, two_since(hosts, started, origins_ns), until)
            for queue, hosts in ended.competing_leaders.items()
        ]
        self._events.put_nowait(c.Audited())

    async def tidy_up(self) -> None:
        """Remove the run's links and queues."""
        stage = self._parts.stage
        limit_s = TIDY_LIMIT_S if stage.interrupt.is_set() else None
        with contextlib.suppress(DeployError, TimeoutError):
            async with asyncio.timeout(limit_s):
                await stage.cluster.unlink(stage.plan)
                await stage.cluster.broker.delete(self._prefix)
        self._events.put_nowait(c.Closed())
