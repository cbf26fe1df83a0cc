"""A queue in a simulated cluster: declaring it, looking into its copies, and what must hold of
them once everything is quiet."""

from dataclasses import dataclass
from typing import Any

from reference_impl.metadata.tables import Queue
from reference_impl.mirrored.master import Master
from reference_impl.mirrored.mirror import Mirror
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Started, StartQueue
from tests.reference_impl.mirrored.fake_channels import QUEUE, Ask, FakeChannel
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster


@dataclass(frozen=True)
class Content:
    """Identities in their order, each with whether it is taken."""

    messages: tuple[tuple[bytes, bool], ...]

    @property
    def identities(self) -> tuple[bytes, ...]:
        return tuple(identity for identity, _ in self.messages)


def channel(cluster: SimulatedCluster, node: str) -> FakeChannel:
    pid = cluster.spawn(node, FakeChannel)
    process = cluster.nodes[node].processes[pid]
    assert isinstance(process, FakeChannel)
    return process


def declare(cluster: SimulatedCluster, at: str, **wish: Any) -> FakeChannel:
    """Through a channel of that node; it is answered before this returns."""
    asking = channel(cluster, at)
    cluster.send(asking.pid, Ask(lambda pid, it: start_queue(pid, it, **wish), supervisor=True))
    while not any(isinstance(answer, Started) for answer in asking.answers):
        assert cluster.step() or cluster.pass_time(), "the declaration is never answered"
    return asking


def start_queue(pid: Pid, request: int, **wish: Any) -> StartQueue:
    return StartQueue(
        channel=pid,
        request=request,
        name=wish.get("name", QUEUE),
        durable=wish.get("durable", True),
        auto_delete=wish.get("auto_delete", False),
        owner=wish.get("owner"),
        arguments=wish.get("arguments", {}),
    )


def record(cluster: SimulatedCluster, name: str = QUEUE) -> Queue | None:
    """As the tables of the first living node say."""
    node = next(iter(cluster.nodes.values()))
    return node.tables.queues.get(name)


def nodes_of(pids: tuple[Pid, ...]) -> list[str]:
    return [pid.node for pid in pids]


def copies(cluster: SimulatedCluster, name: str = QUEUE) -> dict[str, Master | Mirror]:
    """By node."""
    found: dict[str, Master | Mirror] = {}
    for node in cluster.nodes.values():
        for process in node.processes.values():
            if isinstance(process, Master | Mirror) and process._replica.queue == name:
                assert node.name not in found, f"two copies on {node.name}"
                found[node.name] = process
    return found


def content(copy: Master | Mirror) -> Content:
    held = copy._replica.backing.all()
    return Content(tuple((message.identity, taken) for _, message, taken in held))


def check_copies(cluster: SimulatedCluster, name: str = QUEUE) -> None:
    """What holds whenever everything is quiet."""
    now = record(cluster, name)
    for node in cluster.nodes.values():
        assert node.tables.queues.get(name) == now, "tables differ"
    found = copies(cluster, name)
    if now is None:
        assert not found, found
        return
    alive = {copy._replica.pid for copy in found.values()}
    if now.master is None:
        assert not any(isinstance(copy, Master) for copy in found.values()), found
        return
    assert now.master in alive, (now.master, alive)
    assert set(now.mirrors) <= alive, (now.mirrors, alive)
    master = found[now.master.node]
    assert isinstance(master, Master), master
    held = content(master)
    assert len(set(held.identities)) == len(held.identities), "a message is there twice"
    for pid in now.synchronised:
        assert content(found[pid.node]) == held, f"{pid} is not what its master is"
    for pid in now.mirrors:
        mirror = found[pid.node]
        assert isinstance(mirror, Mirror), mirror
        behind = mirror._following.depth.delta
        assert (behind == 0) == (pid in now.synchronised), (pid, behind)
        if behind is not None:
            missing = len(held.messages) - len(content(mirror).messages)
            assert missing == behind, (pid, missing, behind)
