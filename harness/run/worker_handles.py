"""The workers of a run, as the harness sees them: conversation, status, clock, end.

1. Every worker is spoken to at least once a second, or it stops by itself.
2. What a worker said last is kept; that it is gone is noticed by its channel's end, not by time.
3. Ending has a limit: a worker that does not close in time is killed, and its log stays open.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from faults.core.model import Reply
from faults.core.replies import SILENCE_S
from faults.kinds.processes.rules import KILLED
from harness.cluster.port import Channel, DeployError, RunsWorkers
from harness.run.core.clocks import ProcessClock, Sample
from harness.run_folder.manifest import ClockRecord, WorkerRecord
from harness.workers.protocol import EXIT_ORPHANED, SILENCE_LIMIT_S, Role, WorkerConfig, check

HELLO_LIMIT_S = 30.0
PING_EVERY_S = 1.0
RATES_OVER_NS = 1_000_000_000  # at least; workers report twice a second
ORPHANED = (
    f"it ended before the run did: it heard nothing of mqproof for {SILENCE_LIMIT_S:g} s, as on a "
    "machine that is very busy"
)
ANSWER_LIMIT_S = SILENCE_S + 0.5


class WorkerLost(Exception):
    """A worker did not do what it must before the load can begin."""


@dataclass(frozen=True, slots=True)
class _Ping:
    """The channel keeps the order: the next pong answers the oldest."""

    sent_ns: int
    answered: asyncio.Event


@dataclass(slots=True)
class WorkerHandle:
    """One worker process and everything that it has reported."""

    name: str
    config: WorkerConfig
    channel: Channel
    clock: ProcessClock
    versions: dict[str, str]
    status: dict[str, int] = field(default_factory=dict)
    earlier: dict[str, int] = field(default_factory=dict)  # the status RATES_OVER_NS before it
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)  # due, and on time, in each
    messages: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # the last message of each kind
    # By queue: what a drainer or an auditor reported, and when (CLOCK_MONOTONIC, of the harness).
    drained: dict[str, tuple[dict[str, Any], int]] = field(default_factory=dict)
    doubt: str = ""
    exit_code: int | None = None
    unheard: bool = False  # it wrote what is no message: it was killed, and is not heard any more
    over: bool = False  # the conversation was ended
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _recent: list[dict[str, int]] = field(default_factory=list)  # statuses, the oldest first
    _pings: deque[_Ping] = field(default_factory=deque)  # that were not answered, oldest first
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def send(self, do: str, **arguments: Any) -> None:
        """Send a message; if the worker is gone, that is noticed elsewhere."""
        with contextlib.suppress(DeployError):
            await self.channel.send({"do": do, **arguments})

    async def wait_for_message(self, *kinds: str, limit_s: float) -> str | None:
        """Wait for the first of these messages; None: the worker ended, or took too long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not self.ended.is_set():
                    for kind in kinds:
                        if kind in self.messages:
                            return kind
                    await self.changed.wait()
                    self.changed.clear()
        return next((kind for kind in kinds if kind in self.messages), None)

    async def wait_until_drained(self, limit_s: float) -> None:
        """Wait until it has reported each of its queues, has failed or ended, or took too long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not (self._reported_all or self.ended.is_set()):
                    await self.changed.wait()
                    self.changed.clear()

    @property
    def _reported_all(self) -> bool:
        return len(self.drained) == len(self.config.queues) or "failed" in self.messages

    def listen(self) -> None:
        self._tasks = [asyncio.create_task(self._hear()), asyncio.create_task(self._ping())]

    async def answers(self) -> Reply:
        """One ping more, and whether its pong came: a frozen process says nothing."""
        began_s = time.monotonic()
        ping = await self._send_ping()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_LIMIT_S):
                await ping.answered.wait()
        seconds = time.monotonic() - began_s
        if ping.answered.is_set():
            return Reply(True, seconds, "pong")
        return Reply(False, seconds, f"no pong in {seconds:.2f} s")

    @property
    def at_work(self) -> bool:
        """It has sent something, or is subscribed."""
        sends = self.config.role is not Role.PUBLISHER or self.status.get("sent", 0) > 0
        return "ready" in self.messages and sends

    @property
    def failed(self) -> bool:
        """Return whether its run must end: it said that it cannot go on, or cannot be heard."""
        return "failed" in self.messages or self.unheard

    @property
    def attached(self) -> str:
        """Looked at four times a second (compose/rocketmq-java)."""
        return str(self.messages.get("attached", {}).get("server", ""))

    @property
    def scheduling(self) -> str:
        """How the machine schedules it, once it is ready; empty where it did not ask."""
        return str(self.messages.get("ready", {}).get("scheduling", ""))

    def record(self, killed_by: int) -> WorkerRecord:
        """`killed_by`: the window whose fault killed it, as was meant; 0 where none did."""
        config = self.config
        meant = killed_by > 0 and self.exit_code == KILLED and not self.unheard
        ended_early = self.exit_code == EXIT_ORPHANED
        self.doubt = self.doubt or (ORPHANED if ended_early else "")
        return WorkerRecord(
            name=self.name,
            number=config.number,
            role=config.role,
            group=config.group,
            exit_code=self.exit_code,
            failure=f"killed by fault {killed_by}, as planned" if meant else self.doubt,
            # Write ahead: what it sent or acknowledged stands in its log. A broker that forgets
            # when it sends may have sent what a dead consumer never read.
            ended_early=ended_early,
            log_whole=meant and (config.role is Role.PUBLISHER or config.acknowledge > 0),
        )

    @property
    def clock_record(self) -> ClockRecord:
        clock = self.clock
        return ClockRecord(
            self.name, clock.same_boot, clock.offset_ns, clock.bound_ns, clock.doubt
        )

    async def how_ended(self) -> int | None:
        return await self.channel.exit_code()

    async def end(self, limit_s: float) -> None:
        """Ask it to close, and kill it after the limit. Raise DeployError if it cannot be killed,
        or if it is unknown how it ended; the conversation is over all the same."""
        await self.send("close")
        closed = await self._ends_within(limit_s)
        try:
            if not closed:
                self.doubt = self.doubt or f"did not close within {limit_s:g} s and was killed"
                await self.channel.kill()
            self.exit_code = await self.channel.exit_code()
        finally:
            await self._hang_up()

    async def _ends_within(self, limit_s: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self.ended.wait()
        return self.ended.is_set()

    async def _hang_up(self) -> None:
        self.over = True
        try:
            await self.channel.close()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _hear(self) -> None:
        """Note its messages until it ends. It is killed if it writes anything else: a run does not
        go on with a worker that cannot be heard."""
        try:
            while (message := await self.channel.receive()) is not None:
                self._note(message)
                self.changed.set()
            if "closed" not in self.messages and not self.doubt:
                self.doubt = "its process ended without closing its log"
        except DeployError as error:
            await self._give_up(str(error))
        except ValueError as error:  # JSON, but no message of a worker
            await self._give_up(f"it wrote what is no message: {error}")
        finally:
            self.ended.set()
            self.changed.set()

    async def _give_up(self, reason: str) -> None:
        self.unheard = True
        self.doubt = self.doubt or reason
        with contextlib.suppress(DeployError):
            await self.channel.kill()

    def _note(self, message: dict[str, Any]) -> None:
        check(message)
        kind = message["say"]
        self.messages[kind] = message
        if kind == "pong" and self._pings:
            ping = self._pings.popleft()
            ping.answered.set()
            self.clock.observe(
                Sample(
                    ping.sent_ns,
                    message["monotonic_ns"],
                    time.monotonic_ns(),
                    message["suspended_ns"],
                )
            )
        elif kind == "status":
            for second, due, on_time in message.get("seconds", ()):
                self.seconds[second] = due, on_time
            self.status = {
                key: value for key, value in message.items() if key not in ("say", "seconds")
            }
            self._note_earlier()
        elif kind == "drained":
            self.drained[message["queue"]] = message, time.monotonic_ns()
        elif kind == "failed":
            self.doubt = message["doubt"]

    def _note_earlier(self) -> None:
        if "at_ns" not in self.status:
            self._recent, self.earlier = [], {}
            return
        self._recent.append(self.status)
        before_ns = self.status["at_ns"] - RATES_OVER_NS
        while len(self._recent) > 1 and self._recent[1]["at_ns"] <= before_ns:
            del self._recent[0]
        self.earlier = self._recent[0]

    async def _send_ping(self) -> _Ping:
        ping = _Ping(time.monotonic_ns(), asyncio.Event())
        self._pings.append(ping)
        await self.send("ping")
        return ping

    async def _ping(self) -> None:
        while not self.ended.is_set():
            await self._send_ping()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_EVERY_S):
                    await self.ended.wait()


async def start_worker(
    cluster: RunsWorkers, name: str, config: WorkerConfig, boot_id: str
) -> WorkerHandle:
    """Starts one worker and configures it; its origin is put on its own clock.

    Raises WorkerLost where it does not answer, DeployError where it cannot be started.
    """
    channel = await cluster.spawn(name)
    try:
        worker = await _configured(channel, name, config, boot_id)
    except BaseException:  # nothing else knows of it yet
        for leave in (channel.kill, channel.close):
            with contextlib.suppress(DeployError):
                await leave()
        raise
    cluster.started_clients.add(name, worker)
    worker.listen()
    return worker


async def _configured(
    channel: Channel, name: str, config: WorkerConfig, boot_id: str
) -> WorkerHandle:
    before_ns = time.monotonic_ns()
    hello = await _hello(channel, config.driver.packages)
    if hello is None or hello.get("say") != "hello":
        raise WorkerLost(f"{name} did not answer within {HELLO_LIMIT_S:g} s: {hello}")
    try:
        check(hello)
    except ValueError as error:
        raise WorkerLost(f"{name} wrote what is no message: {error}") from error
    clock = ProcessClock(name, same_boot=hello["boot_id"] == boot_id)
    clock.observe(
        Sample(before_ns, hello["monotonic_ns"], time.monotonic_ns(), hello["suspended_ns"])
    )
    config = replace(config, origin_ns=config.origin_ns + clock.offset_ns)
    await channel.send({"do": "configure", "config": config.to_json()})
    return WorkerHandle(name, config, channel, clock, hello["versions"])


async def _hello(channel: Channel, packages: Sequence[str]) -> dict[str, Any] | None:
    """Its answer; None where it gave none in time."""
    await channel.send({"do": "hello", "packages": packages})
    try:
        async with asyncio.timeout(HELLO_LIMIT_S):
            return await channel.receive()
    except TimeoutError:
        return None


async def all_ready(workers: Sequence[WorkerHandle], limit_s: float) -> None:
    """Wait until every worker is connected. Raise WorkerLost, naming all that are not."""
    kinds = await asyncio.gather(
        *(worker.wait_for_message("ready", "failed", limit_s=limit_s) for worker in workers)
    )
    late = [
        f"{worker.name}: {worker.doubt or f'not connected within {limit_s:g} s'}"
        for worker, kind in zip(workers, kinds, strict=True)
        if kind != "ready"
    ]
    if late:
        raise WorkerLost("; ".join(late))
