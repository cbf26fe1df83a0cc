"""A worker's life: hello, configured, started, closed; and what ends it early.

1. The role decides what runs; the life is the same for all.
2. It ends by `close` (EXIT_CLOSED), by losing the harness (EXIT_ORPHANED: log closed, connections
   cut), or by `die` (EXIT_FAILED: it says why and is gone in the same call, so nothing is sent).
3. An unexpected exception is our bug: it ends the worker like a full disk does.
"""

import asyncio
import gc
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn, Protocol

from harness.workers import protocol
from harness.workers.clients.port import Client, NoLibrary, NotAttached
from harness.workers.consumer import Consumer
from harness.workers.control import Control, say_at_once
from harness.workers.core.lateness import Lateness
from harness.workers.drainer import Drainer
from harness.workers.loading import CannotLoad, loaded
from harness.workers.periodic import every
from harness.workers.priority import ask_for_every_thread, ask_for_real_time
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.publisher import Publisher
from harness.workers.recorder import Recorder
from harness.workers.several import Several
from spark_analysis.schema.words import Via

DRAIN_BATCH = 100  # where the load forgets: what is drained is acknowledged in any case
LATENESS_PERIOD_S = 0.01
READINGS = 5  # of the clocks; the narrowest counts
TICK_PERIOD_S = 0.1
STATUS_PERIOD_S = 0.5
ATTACHED = "attached"  # of what clients notice (clients/port.py)
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Worker(Protocol):
    """What publishers, consumers, drainers, auditors and probers have in common."""

    async def run(self) -> None:
        """Works until it is cancelled."""

    def start(self, at_ns: int) -> None: ...

    def stop_load(self) -> None: ...

    def tick(self) -> None: ...

    def status(self) -> dict[str, int]: ...

    async def close(self, nicely: bool) -> None: ...


class Session:
    """One worker process. `live()` returns its exit code."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_on_bug)
        self._control = Control(self._hear, die, self._on_orphaned)
        self._ended: asyncio.Future[int] = loop.create_future()
        self._worker: Worker | None = None
        self._recorder: Recorder | None = None
        self._lateness = Lateness(0)
        self._running: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._ends_of_ticks: tuple[Callable[[], None], ...] = ()
        self._ready = False
        self._scheduling = ""
        self._hastened = False  # when it is ready, for its library's threads are there by then

    async def live(self) -> int:
        await self._control.open()
        code = await self._ended
        await self._control.finish()
        return code

    def _hear(self, message: dict[str, Any]) -> None:
        match message.get("do"):
            case "hello":
                self._control.say(_hello(message.get("packages", ())))
            case "ping":
                self._control.say({"say": "pong", **_clock()})
            case "configure" if self._worker is None:
                self._configure(WorkerConfig.from_json(message["config"]))
            case "start" if self._worker is not None:
                self._worker.start(int(message["at_ns"]))
            case "stop_load" if self._worker is not None:
                self._worker.stop_load()
            case "break_off" if self._worker is not None:
                self._break_off(self._worker)
            case "close":
                self._end(protocol.EXIT_CLOSED)
            case other:
                die(f"cannot {other!r} now")

    def _break_off(self, worker: Worker) -> None:
        """Consumers go on: what they are given is no load of ours."""
        worker.stop_load()
        if isinstance(worker, Publisher):
            worker.break_off()

    def _configure(self, config: WorkerConfig) -> None:
        self._hastened = config.paced and config.driver.own_threads
        if config.paced and not self._hastened:
            self._scheduling = ask_for_real_time()
        recorder = self._recorder = Recorder(config, die, self._on_event)
        self._worker = self._work(config, recorder)
        self._lateness = Lateness(recorder.now_ns())
        self._running = asyncio.create_task(self._worker.run())
        self._running.add_done_callback(_on_task_end)
        self._ends_of_ticks = (
            every(LATENESS_PERIOD_S, self._note_lateness),
            every(TICK_PERIOD_S, self._worker.tick),
            every(STATUS_PERIOD_S, self._say_status),
        )

    def _work(self, config: WorkerConfig, recorder: Recorder) -> Worker:
        if config.role is Role.PUBLISHER:
            client = _client(config)
            config = replace(config, confirm_window=client.window(config.confirm_window))
            return Publisher(config, recorder, client, self._on_ready)
        if config.role is Role.CONSUMER:
            return self._for_each_queue(config, recorder, Via.LOAD)
        if config.role is Role.PROBER:
            prober: Worker = _program(config.driver.prober, config)(
                config, recorder, self._on_ready
            )
            return prober
        if config.role is Role.AUDITOR and config.driver.auditor:
            auditor: Worker = _program(config.driver.auditor, config)(
                config, recorder, self._on_ready, self._control.say
            )
            return auditor
        via = Via.DRAIN
        if config.role is Role.AUDITOR:
            # An audit is of one place: no other way would show what that one holds.
            via, config = Via.AUDIT, replace(config, endpoints=config.endpoints[:1])
        config = replace(config, acknowledge=config.acknowledge or DRAIN_BATCH)
        return self._for_each_queue(config, recorder, via)

    def _for_each_queue(self, config: WorkerConfig, recorder: Recorder, via: Via) -> Worker:
        """One consumer a queue, which drains it unless it is part of the load."""

        def make(place: int, ready: Callable[[], None]) -> Consumer | Drainer:
            queue = config.queues[place]
            own, log = config.alone(queue), recorder.of_queue(queue[1])
            consumer = Consumer(own, log, _client(own), ready, via)
            return consumer if via is Via.LOAD else Drainer(own, consumer, self._control.say)

        if not config.more_queues:
            return make(0, self._on_ready)
        return Several(len(config.queues), make, self._on_ready)

    def _on_ready(self) -> None:
        if not self._ready:
            self._ready = True
            if self._hastened:
                self._scheduling = ask_for_every_thread()
            self._control.say({"say": "ready", "scheduling": self._scheduling})

    def _on_event(self, kind: str, detail: str) -> None:
        """Report which name server a client uses: faults resolve their targets by it."""
        if kind == ATTACHED:
            self._control.say({"say": ATTACHED, "server": detail})

    def _on_orphaned(self, _reason: str) -> None:
        self._end(protocol.EXIT_ORPHANED)

    def _note_lateness(self) -> None:
        assert self._recorder is not None
        for late in self._lateness.tick(self._recorder.now_ns()):
            self._recorder.lateness(late.at_ns, late.late_ns)
        self._recorder.flush()

    def _say_status(self) -> None:
        assert self._worker is not None
        assert self._recorder is not None
        late_ns, at_ns = self._lateness.worst_lately_ns(), self._recorder.now_ns()
        status: dict[str, Any] = {**self._worker.status(), "at_ns": at_ns, "late_ns": late_ns}
        seconds = self._worker.seconds() if isinstance(self._worker, Publisher) else []
        if seconds:
            status["seconds"] = seconds
        self._control.say({"say": "status", **status})

    def _end(self, code: int) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(code))
            self._closing.add_done_callback(_on_task_end)

    async def _close(self, code: int) -> None:
        if self._worker is not None and self._recorder is not None:
            assert self._running is not None
            self._running.cancel()
            await asyncio.wait([self._running])
            await self._worker.close(nicely=code == protocol.EXIT_CLOSED)
            for end_ticks in self._ends_of_ticks:
                end_ticks()
            for late in self._lateness.end():
                self._recorder.lateness(late.at_ns, late.late_ns)
            self._recorder.close()
            self._say_status()  # the last seconds are final now
        self._control.say({"say": "closed"})
        self._ended.set_result(code)


def die(doubt: str) -> NoReturn:
    """Says why, and ends the process before it can send anything more."""
    say_at_once({"say": "failed", "doubt": doubt})
    os._exit(protocol.EXIT_FAILED)


def _client(config: WorkerConfig) -> Client:
    try:
        client: Client = _program(config.driver.client, config)(config)
    except NoLibrary as missing:
        die(str(missing))
    return client


def _program(text: str, config: WorkerConfig) -> Any:
    """What the driver names, imported; like all that is imported it lives as long as we do."""
    try:
        found = loaded(text)
    except CannotLoad as failure:
        die(f"the client {config.client}: {failure}; how it is got: {config.driver.how_to_get}")
    gc.freeze()
    return found


def _hello(packages: Sequence[str]) -> dict[str, Any]:
    versions = {"python": platform.python_version()}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return {
        "say": "hello",
        "boot_id": BOOT_ID.read_text().strip(),
        **_clock(),
        "pid": os.getpid(),
        "versions": versions,
    }


def _clock() -> dict[str, int]:
    """Two clocks at nearly one instant: on a busy machine milliseconds may pass between two
    readings, and would look as if the machine had been suspended."""
    narrowest = min((_readings() for _ in range(READINGS)), key=lambda each: each[2] - each[0])
    before_ns, boot_ns, after_ns = narrowest
    return {"monotonic_ns": after_ns, "suspended_ns": boot_ns - (before_ns + after_ns) // 2}


def _readings() -> tuple[int, int, int]:
    return time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.monotonic_ns()


def _on_bug(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if not isinstance(error, BaseException):
        print(context["message"], file=sys.stderr, flush=True)
        return
    if isinstance(error, NotAttached):
        die(str(error))
    sys.excepthook(type(error), error, error.__traceback__)
    die(f"{context['message']}: {error!r}")


def _on_task_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        context = {"message": "a task ended by a bug", "exception": task.exception()}
        _on_bug(task.get_loop(), context)
