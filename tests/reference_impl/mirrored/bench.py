"""A queue on one node, and one channel that has a request and an answer at a time."""

from random import Random
from typing import Any

from reference_impl.pid import Pid
from reference_impl.process import NORMAL
from reference_impl.protocol.queues import Discard, QueueDelivery, Requeue
from tests.reference_impl.mirrored.fake_channels import (
    AckSome,
    Ask,
    FakeChannel,
    Publish,
    RequeueSome,
    Subscribe,
    getting,
)
from tests.reference_impl.mirrored.queues import channel, copies, declare
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster


class Bench:
    """`names(...)`: messages are called by their number among those published."""

    def __init__(self, **wish: Any) -> None:
        self.cluster = SimulatedCluster(Random(1), ("a",), hurry=0, stalls=0)
        self.one = declare(self.cluster, "a", **wish)
        self.cluster.settle()
        self.one.answers.clear()

    @property
    def master(self) -> Any:
        return copies(self.cluster)["a"]

    def publish(self, count: int, **terms: Any) -> None:
        self.send(self.one, Publish(count, **terms))

    def another(self) -> FakeChannel:
        return channel(self.cluster, "a")

    def subscribe(self, one: FakeChannel | None = None, **wish: Any) -> FakeChannel:
        one = one or self.another()
        self.send(one, Subscribe(**wish))
        return one

    def ask(self, make: Any, one: FakeChannel | None = None) -> Any:
        """The answer, None where there is none."""
        one = one or self.one
        one.answers.clear()
        self.send(one, Ask(make))
        return one.answers[-1] if one.answers else None

    def get(self, *, no_ack: bool = False, one: FakeChannel | None = None) -> Any:
        return self.ask(getting(no_ack), one)

    def ack(self, one: FakeChannel, count: int = 1) -> None:
        self.send(one, AckSome(count))

    def requeue(self, one: FakeChannel, count: int = 1) -> None:
        self.send(one, RequeueSome(count))

    def give_back(self, number: int, one: FakeChannel | None = None) -> None:
        one = one or self.one
        self.send_to_master(Requeue(one.pid, (number,)))

    def discard(self, number: int, one: FakeChannel | None = None) -> None:
        one = one or self.one
        self.send_to_master(Discard(one.pid, (number,)))

    def close(self, one: FakeChannel) -> None:
        self.cluster.nodes["a"].end(one.pid, NORMAL)
        self.cluster.settle()

    def send(self, one: FakeChannel, event: Any) -> None:
        self.cluster.send(one.pid, event)
        self.cluster.settle(100)

    def send_to_master(self, event: Any) -> None:
        self.cluster.send(self.pid, event)
        self.cluster.settle(100)

    @property
    def pid(self) -> Pid:
        pid = self.master._replica.pid
        assert isinstance(pid, Pid)
        return pid

    def seen(self, one: FakeChannel) -> list[int]:
        return [number_of(seen.identity) for seen in one.seen]

    def ready(self) -> list[int]:
        return [
            number_of(message.identity)
            for _, message, taken in self.master._replica.backing.all()
            if not taken
        ]


def number_of(what: bytes | QueueDelivery | Any) -> int:
    identity = what if isinstance(what, bytes) else what.message.identity
    return int(identity.split(b"/")[1])
