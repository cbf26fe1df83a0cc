"""A client of simulated brokers that keeps what was confirmed to it, and what was not."""

from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.simulator.disks import MemoryDisk
from tests.reference_impl.rocketmq.ctgmq.brokers import (
    NAME_SERVERS,
    NAMES,
    SwitchedBrokers,
)
from tests.reference_impl.rocketmq.talking import sending

SENT = (Code.SUCCESS, Code.FLUSH_SLAVE_TIMEOUT, Code.SLAVE_NOT_AVAILABLE)
KEPT = [b"kept %d" % number for number in range(3)]
ALONE = [b"alone %d" % number for number in range(5)]
LATER = [b"later %d" % number for number in range(3)]


class Sender:
    """A client of a group that keeps what was confirmed to it."""

    def __init__(self, without: str, **settings: object) -> None:
        self.group = SwitchedBrokers(without=without, **settings)
        self.world = self.group.world
        self.confirmed: list[bytes] = []
        self.refused: list[bytes] = []
        self.taken: list[bytes] = []  # refused, though a broker had put them into its log
        self.late: list[bytes] = []  # confirmed by a master after its successor began
        self.read: list[bytes] = []
        self.old = self.group.whole()
        self.new = "b2" if self.old == "b1" else "b1"
        self.send(self.old, KEPT)

    def send(self, name: str, bodies: list[bytes]) -> None:
        for body in bodies:
            sent = self.group.send(name, body).header.code in SENT
            (self.confirmed if sent else self.refused).append(body)
            if not sent and body in self.stored(name):
                self.taken.append(body)

    def put(self, name: str, body: bytes) -> int:
        """Send a message until the broker has it; do not wait for its answer."""
        code, fields = RequestCode.SEND_MESSAGE_V2, sending("t")
        number = self.group.client.send(f"{name}:10911", code, fields, body)
        while body not in self.stored(name):
            self.world.run(0.1)
        return number

    def settle(self, number: int, body: bytes) -> None:
        """Wait for an answer of a master that has a successor."""
        answer = self.group.client.answer(number, 10_000)
        if answer is not None and answer.header.code in SENT:
            self.confirmed.append(body)
            self.late.append(body)

    def await_first_ack(self) -> None:
        """Wait until the master knows how long the log of a slave is that came back."""
        replica = self.group.server(self.old)._parts.replica
        assert replica is not None
        assert replica.master is not None
        followers = replica.master._followers
        while not any(one.next is None for one in followers.values()):
            self.world.run(1)
        while any(one.next is None for one in followers.values()):
            self.world.run(0.1)

    def consume(self, name: str) -> None:
        self.read += self.group.bodies(name)

    def stored(self, name: str) -> list[bytes]:
        """Return the bodies that stand in a broker's log, visible or not."""
        log = self.group.server(name)._parts.commit_log
        return [record.body for record in log.records(log.start)]

    @property
    def control(self) -> str:
        """Return the control node that leads."""
        (found,) = (one for one in NAME_SERVERS if self.group.controllers(one).leads)
        return found

    def alone(self) -> None:
        """The slave dies, and the set is its master's when that confirms more."""
        self.world.crash(self.new)
        self.world.run(9_000)
        self.send(self.old, ALONE)
        assert {*ALONE} <= {*self.confirmed}

    def cut_off(self, one: str, *others: str) -> None:
        for other in others:
            self.world.cut(one, other)
            self.world.cut(other, one)

    def heal(self) -> None:
        for pair in sorted(self.world.network.cuts):
            self.world.heal(*pair)

    def destroy(self, name: str) -> None:
        """A host and its disk are gone for good."""
        self.world.crash(name)
        self.wipe(name)

    def wipe(self, name: str) -> None:
        self.world.hosts[name].disk = MemoryDisk()

    def end(self) -> None:
        """All are back, and the last master serves."""
        self.heal()
        for one in ("b1", "b2"):
            if self.world.hosts[one].server is None:
                self.world.start(one)
        self.send(self.group.whole(), LATER)
        self.world.run(2_000)
        assert {*LATER} <= {*self.confirmed}

    def lost(self) -> list[bytes]:
        """Return what readers do not get: from the master, or, if none can be elected, from
        the stores that are left."""
        group = self.group
        running = [name for name in NAMES if self.world.hosts[name].server is not None]
        if group.masters():
            there = {*group.bodies(group.master())}
        else:
            there = {body for name in running for body in self.stored(name)}
        return [body for body in self.confirmed if body not in there]
