"""Why a run ends before its time: a worker that failed, a full disk, an interrupt.

1. It ends this run alone: those that are played together with it go on (run_group.py).
2. What goes on without being on record says nothing, so a disk that refuses a record ends the run.
"""

import asyncio

from harness.run.core import conductor_protocol as c
from harness.run.interrupts import Interrupt
from harness.run.live.state.parts import RunParts


class EarlyEnd:
    """The early end of one run; the manifest says why. `interrupt`: that of a person."""

    def __init__(
        self, parts: RunParts, interrupt: Interrupt, events: asyncio.Queue[c.Event]
    ) -> None:
        self._stage = parts.stage
        self._manifest = parts.manifest
        self._workers = parts.workers
        self._interrupt = interrupt
        self._events = events
        self._full = False  # the disk refused something

    @property
    def refused(self) -> str:
        """Why the disk refused a record of faults or observations; "" where it did not."""
        return self._stage.record.doubt or self._stage.journal.doubt

    def watch(self) -> None:
        """Check what sends no event."""
        failed = [worker for worker in self._workers if worker.failed]
        if failed and not self._manifest.failure:
            self._manifest.failure = "; ".join(f"{m.name}: {m.doubt}" for m in failed)
            self._request()
        if refused := self.refused:
            self.cannot_record(refused)
        if self._interrupt.is_set() and not self._manifest.interrupted:
            self._manifest.interrupted = True
            self._manifest.failure = self._manifest.failure or self._interrupt.reason
            self._request()
        self._stage.interrupt.follow(self._interrupt)

    def cannot_record(self, refused: str) -> None:
        """End the run, once."""
        if not self._full:
            self._full = True
            self._manifest.failure = self._manifest.failure or refused
            self._request()

    def release(self) -> None:
        """Let no other run wait for this one, and it for nothing that takes long."""
        self._stage.participant.withdraw()
        self._stage.interrupt.ask()

    def _request(self) -> None:
        self.release()
        self._events.put_nowait(c.Interrupted())
