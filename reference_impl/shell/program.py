"""One node as an operating system process: asyncio, sockets, disk and timers around node.Node.

1. A turn of the node handles all that came since the last one; then disk, peers and clients get
   what it said, in this order: nothing is confirmed that was not handed to the disk before.
2. `ready` is printed as one line of JSON when clients are served.
3. SIGTERM stops it gracefully: clients get a close, queues are handed over, peers get a notice.
   It ends with 0, or with 1 if it could not boot. A reset begins so, and ends in a boot on an
   empty disk.
4. With a parent it ends, at once, when its standard input does: nothing is left running.
5. A turn that breaks is the node's end: half a turn must have no effect.
"""

import asyncio
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from reference_impl.node.config import Config
from reference_impl.node.node import Node
from reference_impl.node.offline import joining
from reference_impl.node.outside import Outside
from reference_impl.pid import Pid
from reference_impl.shell import memory
from reference_impl.shell.clients import ClientSockets
from reference_impl.shell.disk import FolderDisk
from reference_impl.shell.links import PeerLinks
from reference_impl.shell.listening import cannot_listen
from reference_impl.shell.management import ManagementSockets
from reference_impl.shell.offline import empty, held

# --- Timers of processes on the clock of the event loop ------------------------------------------


Owner = Pid | None  # None: the node itself
Fired = Callable[[Owner, str], None]


class LoopTimers:
    """node.outside.Timers."""

    def __init__(self, fired: Fired) -> None:
        self._loop = asyncio.get_running_loop()
        self._fired = fired
        self._armed: dict[Owner, dict[str, asyncio.TimerHandle]] = {}

    def arm(self, pid: Owner, name: str, after_ms: int) -> None:
        self.disarm(pid, name)
        handle = self._loop.call_later(after_ms / 1000, self._fire, pid, name)
        self._armed.setdefault(pid, {})[name] = handle

    def disarm(self, pid: Owner, name: str) -> None:
        handle = self._armed.get(pid, {}).pop(name, None)
        if handle is not None:
            handle.cancel()

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def forget(self, pid: Owner) -> None:
        for handle in self._armed.pop(pid, {}).values():
            handle.cancel()

    def forget_all(self) -> None:
        for pid in list(self._armed):
            self.forget(pid)

    def _fire(self, pid: Owner, name: str) -> None:
        del self._armed[pid][name]
        self._fired(pid, name)


# --- The process ---------------------------------------------------------------------------------


STOP_LIMIT_S = 10.0
LEAVE_LIMIT_S = 5.0
MEASURED_EVERY_S = 0.25
TICKS_PER_TIME = 4  # of the net tick time (docs/behaviour/rabbitmq.md 3.8)
_LOOK_S = 0.01


class Program:
    """The node of one configuration, over as many boots as it lives. `live` ends with a status."""

    def __init__(self, config: Config) -> None:
        if config.memory_high_octets is None:
            config = replace(config, memory_high_octets=memory.high_watermark())
        self._config = config
        self._loop = asyncio.get_running_loop()
        # It is written as long as the process lives.
        self._log = Path(config.log).open("a", buffering=1) if config.log else None  # noqa: SIM115
        self._disk = self._opened_disk()
        self._links = PeerLinks(config, self._turn, self.log)
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._turning = False
        self._listening: list[asyncio.Server] = []
        self._doors: list[asyncio.Task[None]] = []
        self._begin_boot()

    async def live(self) -> int:
        """Until it is stopped or cannot boot."""
        with closing(self._disk), closing(self._links):
            try:
                server = await self._links.listen(self._config.bind, self._config.peer_port)
            except OSError as error:
                self._cannot_listen(self._config.peer_port, error)
                return await self._ended
            with closing(server):
                self._begin()
                return await self._ended

    def _begin(self) -> None:
        self._loop.add_signal_handler(signal.SIGTERM, self._stop)
        self._loop.call_later(self._quarter_s, self._tick)
        self._measure()
        self._node.begin()
        self._turn()

    @property
    def _quarter_s(self) -> float:
        return self._config.net_ticktime_s / TICKS_PER_TIME

    # --- boots

    def _opened_disk(self) -> FolderDisk:
        misbehave = self._config.misbehave
        truth = Path(misbehave.truth) if misbehave else None
        return FolderDisk(Path(self._config.data), self._flushed, truth)

    def _begin_boot(self) -> None:
        self._timers = LoopTimers(self._fired)
        outside = Outside(self._links, self, self._disk, self._timers, self)
        boot = self._disk.next_boot()
        self._node = Node(self._config, boot, self._disk.saved(), outside)
        self._links.node = self._node
        self._clients = ClientSockets(self._node, self._turn)
        self._management = ManagementSockets(self._node, self._turn)
        self.log(f"boot {boot} of {self._config.name}")

    def restart(self) -> None:
        self._loop.call_soon(self._restart)

    def _restart(self) -> None:
        self.close()
        self._links.close()
        self._timers.forget_all()
        self._begin_boot()
        self._node.begin()
        self._turn()

    def reset(self, through: str | None) -> None:
        self._stop_gracefully(lambda: self._leave_for_good(through), "is reset")

    def _leave_for_good(self, through: str | None) -> None:
        self._node.leave(for_good=True)
        self._turn()
        self._when(self._node.has_left, LEAVE_LIMIT_S, lambda: self._begin_anew(through))

    def _begin_anew(self, through: str | None) -> None:
        self._disk.close()
        empty(Path(self._config.data))
        self._disk = self._opened_disk()
        if through is not None:
            self._disk.save(joining(self._config.name, through))
        self._restart()

    def ready(self) -> None:
        self.log("serves clients")

    def fail(self, text: str) -> None:
        self.log(text)
        print(text, file=sys.stderr, flush=True)
        self._end(1)

    def _cannot_listen(self, port: int, error: OSError) -> None:
        self.fail(f"{self._config.name} {cannot_listen(self._config.bind, port, error)}")

    def log(self, text: str) -> None:
        if self._log is not None:
            self._log.write(f"{time.monotonic():.3f} {text}\n")

    # --- turns

    def _turn(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turning = False
        try:
            self._node.run()
            self._disk.submit_due()
            self._links.flush()
            self._clients.flush()
        except Exception:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    def _fired(self, pid: Pid | None, name: str) -> None:
        self._node.fired(pid, name)
        self._turn()

    def _flushed(self, marks: list[tuple[Pid, int]]) -> None:
        self._loop.call_soon_threadsafe(self._take_flushed, marks)

    def _take_flushed(self, marks: list[tuple[Pid, int]]) -> None:
        for pid, mark in marks:
            self._node.flushed(pid, mark)
        self._turn()

    def _tick(self) -> None:
        self._loop.call_later(self._quarter_s, self._tick)
        self._node.ticked(self._links.tick())
        self._turn()

    def _measure(self) -> None:
        self._loop.call_later(MEASURED_EVERY_S, self._measure)
        if self._node.alarms() or self._node.memory_lasts_s() is not None:
            memory.give_back()
        free = memory.free_octets(Path(self._config.data))
        self._node.measured(memory.resident_octets(), free)
        self._turn()

    # --- node.outside.Clients

    def open(self) -> None:
        self._doors.append(self._loop.create_task(self._open()))

    async def _open(self) -> None:
        bind, config = self._config.bind, self._config
        for factory, port in (
            (self._clients.socket, config.amqp_port),
            (self._management.socket, config.api_port),
        ):
            try:
                server = await self._loop.create_server(factory, bind, port, reuse_address=True)
            except OSError as error:
                self._cannot_listen(port, error)
                return
            self._listening.append(server)
        print(json.dumps({"ready": True, "node": config.name}), flush=True)

    def transmit(self, client: Pid, octets: bytes) -> None:
        self._clients.transmit(client, octets)

    def when_written(self, client: Pid, pid: Pid) -> None:
        self._clients.when_written(client, pid)

    def stop_reading(self, client: Pid) -> None:
        self._clients.stop_reading(client)

    def read_on(self, client: Pid) -> None:
        self._clients.read_on(client)

    def hang_up(self, client: Pid) -> None:
        self._clients.hang_up(client)

    def answer(self, request: int, status: int, body: bytes) -> None:
        self._management.answer(request, status, body)

    def close(self) -> None:
        for task in self._doors:
            task.cancel()
        for server in self._listening:
            server.close()
        self._doors.clear()
        self._listening.clear()
        self._clients.close()

    # --- the end

    def _stop(self) -> None:
        self._stop_gracefully(self._go, "stops gracefully")

    def _go(self) -> None:
        self._node.leave()
        self._take_turn()
        self._end(0)

    def _stop_gracefully(self, then: Callable[[], None], why: str) -> None:
        self.log(why)
        for server in self._listening:
            server.close()
        self._node.stop()
        self._turn()
        self._when(self._node.stopped, STOP_LIMIT_S, then)

    def _when(self, so: Callable[[], bool], limit_s: float, then: Callable[[], None]) -> None:
        """Or when the time is over."""
        if so() or limit_s <= 0:
            then()
        else:
            self._loop.call_later(_LOOK_S, self._when, so, limit_s - _LOOK_S, then)

    def _end(self, status: int) -> None:
        if not self._ended.done():
            self._ended.set_result(status)


async def run(config: Config, with_parent: bool) -> int:
    """A node's whole life; its exit status. Raises InUse where another process lives it."""
    with held(Path(config.data)):
        program = Program(config)
        if with_parent:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _end_with_parent)
        return await program.live()


def _end_with_parent() -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        os._exit(1)
