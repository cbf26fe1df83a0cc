"""The requests that a keeper answers: status, a fault, the end.

1. A fault belongs to its connection: if that ends, by Ctrl-C or by kill -9, the fault is undone.
   So does a run (runs.py).
2. Requests that come while everything ends are refused. While a run uses a cluster, so are faults
   and the end.
"""

import asyncio
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from harness.by_hand.injecting import FaultsByHand
from harness.by_hand.meant import meant
from harness.by_hand.runs import RunsByHand, state_doubts, watch_ends
from harness.by_hand.starting import RunningByHand
from harness.cluster.port import DeployError
from harness.deploy import by_hand_lines as lines
from harness.plan.one_fault import read_fault
from harness.plan.problems import PlanError
from harness.run.interrupts import Interrupt
from harness.workers.protocol import decode, encode
from spark_analysis.files.failed import os_reason

_WAIT_S = 0.05
_ENDING = "the clusters are being taken down"


class KeeperRequests:
    """`running`: may grow until `begin`. `end`: set when the end is requested."""

    def __init__(
        self, running: Sequence[RunningByHand], deployment: str, end: asyncio.Event
    ) -> None:
        self._running = running
        self._deployment = deployment
        self._end = end
        self._injecting: dict[str, FaultsByHand] = {}
        self._faults: dict[asyncio.Task[None], Interrupt] = {}
        self._runs = RunsByHand(self._active, _note)
        self._of_runs: set[asyncio.Task[bool]] = set()
        self._waiting: list[asyncio.StreamWriter] = []  # for the end

    def begin(self) -> None:
        """Every cluster runs. Raises OSError."""
        self._injecting = {one.choice.name: FaultsByHand(one) for one in self._running}

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the request of one connection."""
        try:
            request = decode(await reader.readline())
        except (OSError, ValueError):
            writer.close()
            return
        try:
            await self._answer(request, reader, writer)
        finally:
            if writer not in self._waiting:  # `finish` closes those
                writer.close()

    async def _answer(
        self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        match request.get("do"):
            case lines.STATUS:
                _say(writer, lines.CLUSTERS, **await self._status())
            case lines.FAULT | lines.DOWN if self._runs.attached is not None:
                _say(writer, lines.REFUSED, problems=[f"a run uses {self._runs.attached.title}"])
            case lines.CHECK:
                doubts = await self._doubts(request)
                _say(writer, lines.REFUSED if doubts else lines.CLEAN, problems=list(doubts))
            case lines.RUN:
                await self._run(request, reader, writer)
            case lines.START:
                self._start(request, writer)
            case lines.DOWN:
                self._waiting.append(writer)
                self._end.set()
            case lines.FAULT if self._end.is_set():
                _say(writer, lines.FAILED, text=_ENDING)
            case lines.FAULT:
                await self._fault(request, reader, writer)

    def report(self, say: str, **values: Any) -> None:
        """Report to those who wait for the end."""
        for writer in self._waiting:
            _say(writer, say, **values)

    async def end(self) -> None:
        """Undo every fault, take the cluster from a run, and wait for both."""
        for hearing in self._of_runs:
            hearing.cancel()
        while self._runs.attached is not None:
            await asyncio.sleep(_WAIT_S)
        for interrupt in self._faults.values():
            interrupt.ask(_ENDING)
        await asyncio.gather(*self._faults, return_exceptions=True)
        for one in self._injecting.values():
            one.close()

    async def finish(self) -> None:
        """Say the last words to those who wait for the end."""
        for writer in self._waiting:
            with suppress(OSError):
                await writer.drain()
            writer.close()

    async def _status(self) -> dict[str, Any]:
        used = self._runs.attached.one if self._runs.attached is not None else None
        states = await asyncio.gather(*(_state(one, one is used) for one in self._running))
        now_s = time.monotonic()
        faults = [
            {
                "system": one.system,
                "title": one.window.state.title,
                "verified": one.window.state.facts.verified or _is_verified(one.window),
                "left_s": max(0.0, one.ends_s - now_s),
            }
            for injecting in self._injecting.values()
            for one in injecting.active
        ]
        run = self._runs.attached
        return {"clusters": list(states), "faults": faults, "run": run.title if run else ""}

    def _active(self) -> tuple[str, ...]:
        """Return every fault by hand: also those that are about to begin."""
        every = (one for injecting in self._injecting.values() for one in injecting.active)
        titles = [f"{one.window.state.title} of {one.system}" for one in every]
        pending = len(self._faults) - len(titles)
        return (*titles, *("one that is about to begin",) * pending)

    async def _doubts(self, request: dict[str, Any]) -> tuple[str, ...]:
        if self._end.is_set():
            return (_ENDING,)
        one = self._of(request)
        if one is None:
            return (f"no cluster of {request['system']} runs",)
        return await self._runs.doubts(one, str(request["layout"]))

    def _conflicts(self) -> tuple[str, ...]:
        return (_ENDING,) if self._end.is_set() else self._runs.conflicts()

    def _of(self, request: dict[str, Any]) -> RunningByHand | None:
        """Return the cluster that a run means: the only one of its system, or the one with its
        layout's label. None: there is none."""
        named = [one for one in self._running if one.named(request["system"])]
        same = [one for one in named if one.choice.layout.label == request.get("label")]
        found = same or (named if len(named) == 1 else [])
        return found[0] if found else None

    async def _run(
        self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Give a cluster to a run until its connection ends, or until everything ends."""
        doubts, one = await self._doubts(request), self._of(request)
        doubts = doubts or self._conflicts()  # that began while the cluster was looked at
        if one is None or doubts:
            _say(writer, lines.REFUSED, problems=list(doubts))
            return
        run = self._runs.attach(one, request)
        ends = asyncio.create_task(
            watch_ends(one, lambda pid, code: _say(writer, lines.ENDED, pid=pid, code=code))
        )
        _say(writer, lines.ATTACHED, facts=one.for_runs.facts())
        hearing = asyncio.create_task(_ends_by_a_line(reader))
        self._of_runs.add(hearing)
        await asyncio.wait({hearing})
        self._of_runs.discard(hearing)
        ends.cancel()
        if hearing.cancelled():
            _say(writer, lines.FAILED, text=_ENDING)
        ended = not hearing.cancelled() and hearing.result()
        left = await self._runs.release(run, ended)
        _say(writer, lines.END, text=left)

    def _start(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        one, place = self._of(request), str(request["place"])
        if one is None or self._runs.attached is None or self._runs.attached.one is not one:
            _say(writer, lines.FAILED, text="no run uses this cluster")
            return
        try:
            _say(writer, lines.STARTED, pid=one.for_runs.start(place))
        except OSError as error:
            _say(writer, lines.FAILED, text=os_reason(error, None))

    async def _fault(
        self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        interrupt = Interrupt(lambda text: _say(writer, lines.MESSAGE, text=text))
        playing = asyncio.create_task(self._play(request, writer, interrupt))
        hearing = asyncio.create_task(_hear(reader, interrupt))
        self._faults[playing] = interrupt
        try:
            await playing
        finally:
            del self._faults[playing]
            hearing.cancel()

    async def _play(
        self, request: dict[str, Any], writer: asyncio.StreamWriter, interrupt: Interrupt
    ) -> None:
        try:
            fault = read_fault(request["fault"])
            one = await meant(self._running, fault, str(request["system"]), self._deployment)
        except PlanError as error:
            _say(writer, lines.REFUSED, problems=[str(problem) for problem in error.problems])
            return
        if self._end.is_set():  # since the cluster was looked for
            _say(writer, lines.FAILED, text=_ENDING)
            return
        injecting = self._injecting[one.choice.name]
        try:
            code = await injecting.play(
                fault, lambda text: _say(writer, lines.MESSAGE, text=text), interrupt
            )
        except OSError as error:  # a disk that takes no line of the journal
            _say(writer, lines.FAILED, text=f"nothing was injected: {os_reason(error, None)}")
            return
        except DeployError as error:
            _say(writer, lines.FAILED, text=str(error))
            return
        except Exception:  # the clusters run on, and the window has undone its fault
            traceback.print_exc()
            _say(writer, lines.CRASHED, text=traceback.format_exc())
            return
        _say(writer, lines.END, code=int(code))


async def _hear(reader: asyncio.StreamReader, interrupt: Interrupt) -> None:
    """Every line asks for the end of the fault, and so does the end of the connection."""
    with suppress(OSError, ValueError):
        while await reader.readline():
            interrupt.ask()
    interrupt.ask()


async def _ends_by_a_line(reader: asyncio.StreamReader) -> bool:
    """Return at a line, or at the end of the connection: whether it was a line."""
    with suppress(OSError, ValueError):
        return bool(await reader.readline())
    return False


def _note(text: str) -> None:
    """Write to the keeper's log."""
    print(text, file=sys.stderr, flush=True)


async def _state(one: RunningByHand, used: bool) -> dict[str, Any]:
    """Return whether a cluster is clean. `used`: by a run, whose queues are there."""
    doubts = [doubt async for doubt in state_doubts(one, queues_allowed=used)]
    return {"system": one.choice.name, "clean": not doubts, "doubts": doubts}


def _is_verified(window: Any) -> bool:
    look = window.look
    return bool(look is not None and look.done() and not look.cancelled() and look.result().ok)


def _say(writer: asyncio.StreamWriter, say: str, **values: Any) -> None:
    if not writer.is_closing():
        with suppress(OSError):  # it went away
            writer.write(encode({"say": say, **values}))
