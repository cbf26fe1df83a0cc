"""A mirrored queue on simulated nodes, and what an operator does to it."""

from random import Random
from typing import Any

from tests.reference_impl.mirrored.bench import number_of
from tests.reference_impl.mirrored.fake_channels import Publish
from tests.reference_impl.mirrored.queues import (
    channel,
    content,
    copies,
    declare,
    nodes_of,
    record,
)
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster

ALL: dict[str, Any] = {"ha_mode": "all"}
AUTOMATIC: dict[str, Any] = {"ha_mode": "all", "ha_sync_mode": "automatic"}


class Cluster:
    """A durable queue declared at the first node, and a publisher at the last."""

    def __init__(
        self,
        nodes: str = "abc",
        seed: int = 1,
        arguments: dict[str, Any] | None = None,
        **policy: Any,
    ) -> None:
        self.nodes = SimulatedCluster(Random(seed), tuple(nodes), hurry=0)
        self.nodes.put_policy("p", **policy)
        declare(self.nodes, nodes[0], durable=True, arguments=arguments or {})
        self.nodes.settle()
        self.publisher = channel(self.nodes, nodes[-1])

    def publish(self, count: int, *, persistent: bool = True) -> None:
        if self.publisher.pid.node not in self.nodes.nodes:
            self.publisher = channel(self.nodes, next(iter(self.nodes.nodes)))
        self.nodes.send(self.publisher.pid, Publish(count, persistent))
        self.nodes.settle(500)

    def kill(self, *names: str) -> None:
        for name in names:
            self.nodes.kill(name)
        self.nodes.settle()

    def stop(self, name: str) -> None:
        self.nodes.stop(name)
        self.nodes.finish_stop(name)
        self.nodes.settle()

    def start(self, *names: str) -> None:
        for name in names:
            self.nodes.start(name)
        self.nodes.settle()

    def policy(self, **policy: Any) -> None:
        self.nodes.put_policy("p", **policy)
        self.nodes.settle()

    def send_to_master(self, event: Any) -> None:
        self.nodes.send(self.record.master, event)
        self.nodes.settle()

    def unsynchronise(self, *names: str, backlog: int = 50) -> None:
        """They rejoin empty while the master holds a backlog."""
        for name in names:
            self.stop(name)
        assert self.master is not None
        self.publisher = channel(self.nodes, self.master)
        self.publish(backlog)
        for name in names:
            self.start(name)
        assert not set(nodes_of(self.record.synchronised)) & set(names)

    @property
    def record(self) -> Any:
        now = record(self.nodes)
        assert now is not None, "the queue is gone"
        return now

    @property
    def mirrors(self) -> list[str]:
        return nodes_of(self.record.mirrors)

    @property
    def synchronised(self) -> set[str]:
        return set(nodes_of(self.record.synchronised))

    @property
    def master(self) -> str | None:
        return None if self.record.master is None else self.record.master.node

    def held(self, name: str | None = None) -> list[int]:
        copy = copies(self.nodes)[name or self.record.master.node]
        return [number_of(identity) for identity in content(copy).identities]

    def outcomes(self) -> list[str]:
        return list(self.publisher.outcomes.values())


def run_until(cluster: Cluster, is_so: Any) -> None:
    while not is_so():
        assert cluster.nodes.step(), "it never came to that"
