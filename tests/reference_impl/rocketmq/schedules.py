"""Random schedules of a master, its slave and a name server: what happens to them, and which
confirmed messages remain.

1. Everything comes from one seed. A schedule that finds something is played again by its number.
2. At its end all cuts are healed and all hosts run. The remaining messages are those
   in the logs of master and slave, without octets that no reader could read.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.settings import Flush, Role
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    NAME_SERVER,
    SLAVE,
    Client,
    broker,
    name_server,
    sending,
    server_of,
)

TICK_MS = 100
STEPS = 30
PAUSE_MS = (5.0, 4_000.0)
SETTLE_MS = 40_000


@dataclass(frozen=True)
class Mode:
    """`losses`: how often the master may lose its power. `kept_by`: who holds what was confirmed:
    the master, or one of both."""

    name: str
    role: Role
    flush: Flush
    losses: int
    kept_by: tuple[str, ...]


MODES = (
    Mode("crashes", Role.ASYNC_MASTER, Flush.ASYNC_FLUSH, 0, (MASTER,)),
    Mode("flushed", Role.ASYNC_MASTER, Flush.SYNC_FLUSH, 9, (MASTER,)),
    Mode("copied", Role.SYNC_MASTER, Flush.ASYNC_FLUSH, 1, (MASTER, SLAVE)),
)


def lost(mode: Mode, seed: int) -> set[int]:
    """Return messages that were confirmed, and that no holder has."""
    return _Schedule(mode, seed).lost()


class _Schedule:
    def __init__(self, mode: Mode, seed: int) -> None:
        self._mode = mode
        self._dice = random.Random(f"{mode.name} {seed}")
        self._world = world = World(seed, TICK_MS)
        name_server(world)
        broker(world, MASTER, broker_role=mode.role, flush_disk_type=mode.flush)
        broker(world, SLAVE, broker_role=Role.SLAVE, broker_id=1)
        self._client = Client(world)
        self._sent: list[int] = []  # numbers of requests, by message
        self._losses = mode.losses
        world.run(13_000)

    def lost(self) -> set[int]:
        deeds = self._deeds()
        for _ in range(STEPS):
            self._dice.choice(deeds)()
            self._world.run(self._dice.uniform(*PAUSE_MS))
        self._settle()
        confirmed = {
            number for number, request in enumerate(self._sent) if self._is_confirmed(request)
        }
        kept = set[int]().union(*(self._held(name) for name in self._mode.kept_by))
        return confirmed - kept

    def _deeds(self) -> list[Callable[[], None]]:
        hosts = (MASTER, SLAVE)
        return [
            self._send,
            self._send,
            self._send,
            lambda: self._crash(self._dice.choice(hosts)),
            lambda: self._freeze(self._dice.choice((*hosts, NAME_SERVER))),
            lambda: self._thaw(),
            lambda: self._cut(),
            lambda: self._heal(),
            self._lose_power,
        ]

    def _send(self) -> None:
        """Send several messages; some are in flight at the next event."""
        for _ in range(self._dice.randrange(1, 5)):
            if self._world.hosts[MASTER].server is None:
                self._world.start(MASTER)
                self._world.run(100)
            body = b"%d" % len(self._sent)
            fields = sending("t", self._dice.randrange(4))
            code = RequestCode.SEND_MESSAGE_V2
            if not self._client.reaches(MASTER_ADDRESS):
                return
            self._sent.append(self._client.send(MASTER_ADDRESS, code, fields, body))

    def _crash(self, host: str) -> None:
        if self._world.hosts[host].server is None:
            self._world.start(host)
        else:
            self._world.crash(host)

    def _lose_power(self) -> None:
        if self._losses and self._world.hosts[MASTER].server is not None:
            self._losses -= 1
            self._world.lose_power(MASTER)

    def _freeze(self, host: str) -> None:
        self._world.freeze(host)

    def _thaw(self) -> None:
        for host in (MASTER, SLAVE, NAME_SERVER):
            if self._world.hosts[host].stands_still:
                self._world.thaw(host)

    def _cut(self) -> None:
        pair = self._dice.sample((MASTER, SLAVE, NAME_SERVER), 2)
        self._world.cut(*pair)

    def _heal(self) -> None:
        for pair in [*self._world.network.cuts]:
            self._world.heal(*pair)

    def _settle(self) -> None:
        self._heal()
        for host in (NAME_SERVER, MASTER, SLAVE):
            if self._world.hosts[host].server is None:
                self._world.start(host)
        self._thaw()
        self._world.run(SETTLE_MS)

    def _is_confirmed(self, request: int) -> bool:
        answer = self._client.answer(request)
        return answer is not None and answer.header.code == Code.SUCCESS

    def _held(self, name: str) -> set[int]:
        log = server_of(self._world, name).store.log
        return {int(one.body) for one in log.records(log.start) if one.topic == "t"}
