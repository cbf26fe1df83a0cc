"""A worker process that was hired on a real cluster and does nothing but answer pings."""

from typing import Any, cast

from harness.cluster.port import Cluster
from harness.run.clocks import Clock
from harness.run.crew import Member
from harness.workers.protocol import WorkerConfig


async def hired(cluster: Cluster, name: str) -> Member:
    channel = await cluster.spawn(name)
    await channel.send({"do": "hello"})
    hello = await channel.receive()
    assert hello is not None
    nothing = cast(WorkerConfig, cast(Any, None))  # it was told of no broker
    member = Member(name, nothing, channel, Clock(name, same_boot=True), hello["versions"])
    member.listen()
    cluster.roster.enter(name, member)
    return member
