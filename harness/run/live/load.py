"""The load of a run: begun at one instant, stopped, and closed.

1. All workers begin at the same instant, each by its own clock.
2. The first notice of the end is the end: later ones change nothing.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterable

from harness.run.drain_and_audit import CLOSE_LIMIT_S
from harness.run.interrupts import Interrupt, RunInterrupted
from harness.run.live.replacing import ClientReplacement
from harness.run.live.state.parts import RunParts
from harness.run.worker_handles import WorkerHandle

LOAD_LEAD_NS = 500_000_000  # between the order to start and the first publish


class LiveLoad:
    """The load of one run."""

    def __init__(self, parts: RunParts, clients: ClientReplacement) -> None:
        self._stage = parts.stage
        self._manifest = parts.manifest
        self._workers = parts.workers
        self._clients = clients

    async def start(self, interrupt: Interrupt) -> int:
        """Start it when all runs are ready that are played together, or at an interrupt. Return
        the instant of its begin, in ns of CLOCK_MONOTONIC."""
        with contextlib.suppress(RunInterrupted):  # it begins all the same, and ends in good order
            await interrupt.unless(self._stage.participant.meet("load"))
        starts_ns = time.monotonic_ns() + LOAD_LEAD_NS
        for worker in self._workers:
            await worker.send("start", at_ns=starts_ns + worker.clock.offset_ns)
        self._manifest.load_started_ns = self._stage.run_ns(starts_ns)
        return starts_ns

    def end(self) -> None:
        """Note the end once. No client is replaced any more."""
        self._clients.over = True
        if self._manifest.load_ended_ns is None:
            self._manifest.load_ended_ns = self._stage.run_ns(time.monotonic_ns())

    async def stop(self, at_once: bool) -> None:
        """Order all to stop. `at_once`: what failed is not tried again either."""
        do = "break_off" if at_once else "stop_load"
        await asyncio.gather(*(worker.send(do) for worker in self._workers))

    async def close(self, by_role: bool) -> None:
        """Close all workers. `by_role`: publishers first, for what they sent last may still be
        delivered to the consumers."""
        self.end()
        if not by_role:
            await close_all(self._workers)
            return
        for role in ("publisher", "consumer", "prober"):
            await close_all(one for one in self._workers if one.config.role == role)


async def close_all(workers: Iterable[WorkerHandle]) -> None:
    """Return when each has closed its log, or was killed after CLOSE_LIMIT_S. Raise the first
    failure when all have ended."""
    work = (worker.end(CLOSE_LIMIT_S) for worker in workers)
    for ended in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
