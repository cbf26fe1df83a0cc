"""A producer or a consumer on the Java side: made, started, attached, listened to, ended.

1. A thread waits inside Java for what the library has to tell (JPype lets go of Python there), and
   brings it to the loop in one piece.
2. The library chooses its name server by chance. Where a worker must be attached to a certain one,
   its library is ended in good order and another one is started, until it is. Nothing is heard of
   those that asked another one: they have sent and acknowledged nothing.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from harness.workers.clients.port import LinkLost, NotAttached
from harness.workers.clients.rocketmq.core import answers, wire
from harness.workers.clients.rocketmq.options import RocketOptions, attach_to, group, name_servers
from harness.workers.protocol import WorkerConfig

TAKE_MS = 200  # how long the thread waits inside Java, so that it sees the end
# Of two name servers each is met with every second try: in vain once in a thousand million runs.
TRIES_MAX = 30
ATTACHED = "attached"


class JavaObject:
    """A link's object on the Java side: made, started, listened to, ended.

    `receive` is called with what came in one piece, after `noticed` with the notices in it;
    `stored` instead, with tags and times, if all of it is answers of one kind (wire.stored).
    `enough`: so many entries are awaited before they are brought, for 2 ms at most; of a load that
    Java sends by itself, what comes within 8 ms (Outbox.java).
    """

    def __init__(
        self,
        config: WorkerConfig,
        receive: Callable[[Sequence[wire.Entry]], None],
        noticed: Callable[[str, str], None],
        stored: Callable[[Sequence[int], Sequence[int]], None] | None = None,
        enough: int = 1,
    ) -> None:
        self._config = config
        self._enough = enough
        self._receive = receive
        self._stored = stored
        self._noticed = noticed
        self._taker: _Taker | None = None
        options = RocketOptions.from_json(config.own)
        self._wanted = attach_to(options, config.role, config.index)
        self._attached = ""
        self._new: Callable[[], Any] | None = None
        self.object: Any = None

    @property
    def listened_to(self) -> bool:
        return self._taker is not None

    async def make(
        self, kind: str, whose: str, *how: Any, settings: tuple[tuple[str, str], ...]
    ) -> None:
        """An object of the class `kind`, in the group of `whose`. Raises LinkLost."""
        config = self._config

        def new() -> Any:
            return bridge(kind)(
                name_servers(config.endpoints),
                group(config.queue, whose),
                config.connection_name,
                config.queue,
                *how,
                strings(settings),
            )

        self._new = new
        self.object = await in_java(new)

    async def start(self) -> None:
        """Raises LinkLost, NotAttached; what was started by then is ended."""
        assert self._new is not None, "nothing was made"
        try:
            await self._start_attached(self._new)
            self._taker = _Taker(self.object, self._enough, self.hear)
            await in_java(self.object.watch)
        except BaseException:
            self.abort()
            raise

    async def _start_attached(self, new: Callable[[], Any]) -> None:
        """Returns when the object asks the name server that is wanted."""
        for number in range(1, TRIES_MAX + 1):
            if number > 1:
                self.object = await in_java(new)
            await in_java(self.object.start)
            self._attached = named(await in_java(self.object.attached), self._config)
            if self._wanted in ("", self._attached):
                return
            detail = f"{self._attached or 'no name server'}, not {self._wanted}: try {number}"
            self._noticed(f"{ATTACHED} elsewhere", detail)
            # To its end: of two with one name the library makes one, which keeps its choice.
            await in_java(self.object.close)
        raise NotAttached(
            f"{self._config.connection_name} queried the name server of {self._wanted} in none of "
            f"{TRIES_MAX} tries; the last one queried {self._attached or 'no name server'}"
        )

    def must_be_attached(self) -> None:
        """Raises NotAttached where it has gone to another name server since it began."""
        if self._wanted not in ("", self._attached):
            raise NotAttached(
                f"{self._config.connection_name} was attached to {self._wanted}, and asks "
                f"{self._attached or 'no name server'} when the load begins"
            )

    def hear(self, taken: bytes) -> None:
        if self._stored is not None and (found := wire.stored(taken)) is not None:
            self._stored(*found)
            return
        entries = tuple(wire.entries(taken))
        for entry in entries:
            if isinstance(entry, wire.RawNotice):
                detail = named(entry.detail, self._config)
                if entry.kind == ATTACHED:
                    self._attached = detail
                self._noticed(entry.kind, detail)
        self._receive(entries)

    async def close(self, limit_s: float) -> None:
        """In good order, so far as the limit allows; the process ends soon in any case."""
        self._stop_listening()
        try:
            async with asyncio.timeout(limit_s):
                await in_java(self.object.close)
        except (TimeoutError, LinkLost):
            return

    def abort(self) -> None:
        """Nothing more is heard; the library ends by itself, or with the process."""
        self._stop_listening()
        if self.object is not None:
            threading.Thread(target=self.object.close, name="mqproof abandon", daemon=True).start()

    def _stop_listening(self) -> None:
        if self._taker is not None:
            self._taker.end()
            self._taker = None


class _Taker:
    """The thread that waits for what Java tells, and the loop's callback that hears it."""

    def __init__(self, java: Any, enough: int, receive: Callable[[bytes], None]) -> None:
        self._java = java
        self._enough = enough
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._ended = False
        threading.Thread(target=self._take, name="mqproof take", daemon=True).start()

    def end(self) -> None:
        """Nothing more is heard."""
        self._ended = True

    def _take(self) -> None:
        while not self._ended:
            taken = bytes(self._java.take(TAKE_MS, self._enough))
            if taken:
                self._loop.call_soon_threadsafe(self._hear, taken)

    def _hear(self, taken: bytes) -> None:
        if not self._ended:
            self._receive(taken)


async def in_java(call: Callable[[], Any]) -> Any:
    """A call that may wait for a broker, in a thread. Raises LinkLost with Java's own words."""
    import jpype

    try:
        return await asyncio.to_thread(call)
    except jpype.JException as failure:
        text = str(failure).partition("\n")[0]
        raise LinkLost(text[: answers.RAW_MAX]) from failure


def named(detail: str, config: WorkerConfig) -> str:
    """A name server's host instead of its address, where `detail` is one."""
    names = {f"{each.address}:{each.port}": each.host for each in config.endpoints}
    return names.get(detail, detail)


def bridge(name: str) -> Any:
    import jpype

    return jpype.JClass(f"mqproof.{name}")


def strings(settings: tuple[tuple[str, str], ...]) -> Any:
    import jpype

    return jpype.JArray(jpype.JString)([word for pair in settings for word in pair])
