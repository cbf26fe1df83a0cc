"""What the cluster reports while a run goes on: its resources, and the ends of its processes."""

import asyncio
import contextlib
from collections.abc import Callable

from harness.cluster.port import DeployError, Ended
from harness.run.stage import Stage
from harness.run_folder.process_ends import unplanned_text, watch_lost_text


class ClusterReports:
    """The reports during one run, from `begin` to `end`. `report`: gets an unplanned end."""

    def __init__(
        self, stage: Stage, report: Callable[[str], None], save: Callable[[], None]
    ) -> None:
        self._stage = stage
        self._report = report
        self._save = save
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        self._tasks = [
            asyncio.create_task(self._sample()),
            asyncio.create_task(self._see_process_ends()),
        ]

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _sample(self) -> None:
        with contextlib.suppress(DeployError):
            async for sample in self._stage.cluster.resources():
                self._stage.record.sample(sample)

    async def _see_process_ends(self) -> None:
        """Note every end. If the watch breaks off, record why: an end may then be missing."""
        try:
            async for ended in self._stage.cluster.process_ends():
                self._see(ended)
        except Exception as failure:
            reason = str(failure) or type(failure).__name__
            self._stage.process_ends.watch_lost = reason
            self._report(watch_lost_text(reason))
            self._save()

    def _see(self, ended: Ended) -> None:
        if self._stage.participant.others_go_on:
            return  # it no longer knows which ends are planned
        unplanned = self._stage.process_ends.saw(ended)
        if unplanned is not None:
            self._report(unplanned_text(unplanned))
            self._save()
