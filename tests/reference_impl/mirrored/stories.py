"""What may happen to a queue and its nodes, told by chance: each deed is a method.

1. `wild`: everything, at any moment; also more deaths than any queue survives.
2. `careful`: one node or process is lost at a time, in the middle of traffic, and only when every
   mirror is synchronised. That is when nothing that was confirmed may be lost.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from reference_impl.process import CRASH, NORMAL
from reference_impl.protocol.queues import CancelSync, Purge, Synchronise
from tests.reference_impl.mirrored.fake_channels import (
    AckSome,
    Ask,
    FakeChannel,
    Publish,
    RequeueSome,
    Subscribe,
    getting,
)
from tests.reference_impl.mirrored.queues import channel, copies, declare, record
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster

AUTOMATIC = {"ha_mode": "all", "ha_sync_mode": "automatic"}
POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"ha_mode": "all"},
    AUTOMATIC,
    {"ha_mode": "exactly", "ha_params": 2, "ha_sync_mode": "automatic"},
    {"ha_mode": "exactly", "ha_params": 3},
    {"ha_mode": "nodes", "ha_params": ["b", "c"]},
    {"ha_mode": "nodes", "ha_params": ["c", "d"], "ha_sync_mode": "automatic"},
    {"ha_mode": "all", "ha_promote_on_failure": "when-synced"},
    {**AUTOMATIC, "ha_promote_on_shutdown": "always"},
)
HEALED_MS = 30_000


@dataclass
class Story:
    seed: int
    nodes: str
    policy: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.cluster = SimulatedCluster(self.random, tuple(self.nodes))
        self.cluster.put_policy("p", **self.policy)
        self.durable = self.random.random() < 0.8
        first = declare(self.cluster, self.random.choice(self.nodes), durable=self.durable)
        self.channels = [first]
        self.note(f"{self.policy} durable={self.durable} declared at {first.pid}")

    def note(self, what: str) -> None:
        self.notes.append(what)

    def go_on(self, deeds: list[Callable[[], None]], count: int) -> None:
        for _ in range(count):
            deed = self.random.choice(deeds)
            self.note(deed.__name__)
            deed()

    def heal(self) -> None:
        for name in self.nodes:
            if name not in self.cluster.nodes:
                self.cluster.start(name)
        self.cluster.settle(HEALED_MS)

    # --- who

    def living(self) -> list[FakeChannel]:
        return [
            one
            for one in self.channels
            if one.pid.node in self.cluster.nodes
            and one.pid in self.cluster.nodes[one.pid.node].processes
        ]

    def one(self) -> FakeChannel:
        living = self.living()
        if not living:
            self.open_channel()
            living = self.living()
        return self.random.choice(living)

    def some_node(self) -> str:
        return self.random.choice(list(self.cluster.nodes))

    # --- deeds of clients

    def open_channel(self) -> None:
        self.channels.append(channel(self.cluster, self.some_node()))

    def close_channel(self) -> None:
        pid = self.one().pid
        self.cluster.nodes[pid.node].end(pid, NORMAL)

    def publish(self) -> None:
        publish = Publish(self.random.randint(1, 5), self.random.random() < 0.7)
        self.cluster.send(self.one().pid, publish)

    def subscribe(self) -> None:
        one = self.one()
        if one._subscription is None:
            wish = Subscribe(
                prefetch=self.random.choice((0, 1, 3)),
                no_ack=self.random.random() < 0.2,
                hold=self.random.choice((0, 0, 2, 5)),
                shared=self.random.random() < 0.2,
            )
            self.cluster.send(one.pid, wish)

    def ack(self) -> None:
        self.cluster.send(self.one().pid, AckSome(self.random.randint(1, 3)))

    def requeue(self) -> None:
        self.cluster.send(self.one().pid, RequeueSome(self.random.randint(1, 3)))

    def get(self) -> None:
        self.cluster.send(self.one().pid, Ask(getting(self.random.random() < 0.5)))

    def purge(self) -> None:
        self.cluster.send(self.one().pid, Ask(Purge))

    # --- deeds of operators

    def change_policy(self) -> None:
        self.cluster.put_policy("p", **self.random.choice(POLICIES))

    def synchronise(self) -> None:
        self._send_to_master(Synchronise())

    def cancel_sync(self) -> None:
        self._send_to_master(CancelSync())

    def stop(self) -> None:
        if len(self.cluster.nodes) > 1:
            name = self.some_node()
            self.cluster.stop(name)
            self.cluster.finish_stop(name)

    def start(self) -> None:
        stopped = [name for name in self.nodes if name not in self.cluster.nodes]
        if stopped:
            self.cluster.start(self.random.choice(stopped))

    # --- deeds of fate

    def kill(self) -> None:
        if len(self.cluster.nodes) > 1:
            self.cluster.kill(self.some_node())

    def crash(self) -> None:
        """A replica's process alone."""
        found = copies(self.cluster)
        if found:
            name = self.random.choice(sorted(found))
            self.cluster.nodes[name].end(found[name]._replica.pid, CRASH)

    def run(self) -> None:
        self.cluster.run(self.random.randint(1, 80))

    def settle(self) -> None:
        self.cluster.settle()

    def _send_to_master(self, event: Any) -> None:
        now = record(self.cluster)
        if now is not None and now.master is not None:
            self.cluster.send(now.master, event)


def wild(seed: int) -> Story:
    """Stops at an arbitrary moment, not healed."""
    random = Random(f"wild {seed}")
    story = Story(seed, "abcd"[: random.randint(1, 4)], random.choice(POLICIES))
    busy = [story.publish, story.publish, story.publish, story.run, story.run, story.run]
    clients = [story.open_channel, story.subscribe, story.ack, story.ack, story.requeue]
    others = [story.get, story.purge, story.close_channel, story.settle]
    operators = [story.synchronise, story.cancel_sync, story.change_policy, story.stop]
    fate = [story.kill, story.crash, story.start, story.start]
    deeds = [*busy, *busy, *clients, *others, *operators, *fate]
    story.go_on(deeds, random.randint(3, 30))
    return story


def careful(seed: int) -> Story:
    """Ends healed, with everything synchronised."""
    random = Random(f"careful {seed}")
    story = Story(seed, "abcde"[: random.randint(2, 5)], AUTOMATIC)
    traffic = [story.publish, story.publish, story.publish, story.open_channel, story.run]
    losses = [story.kill, story.kill, story.stop, story.crash]
    consumer: FakeChannel | None = None
    story.settle()
    for _ in range(random.randint(2, 5)):
        if consumer not in story.living():
            consumer = channel(story.cluster, story.some_node())
            story.channels.append(consumer)
            wish = Subscribe(prefetch=random.choice((0, 2)), hold=random.choice((0, 0, 3)))
            story.cluster.send(consumer.pid, wish)
        story.go_on([*traffic, story.ack], random.randint(1, 12))
        story.go_on(losses, 1)
        story.go_on([story.publish, story.run], random.randint(0, 4))
        story.cluster.settle(2_000)
        story.heal()
    return story
