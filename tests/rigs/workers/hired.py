"""A worker process that was started on a real cluster and does nothing but answer pings."""

from typing import Any, cast

from harness.cluster.port import Cluster
from harness.run.core.clocks import ProcessClock
from harness.run.worker_handles import WorkerHandle
from harness.workers.protocol import WorkerConfig


async def hired(cluster: Cluster, name: str) -> WorkerHandle:
    channel = await cluster.spawn(name)
    await channel.send({"do": "hello"})
    hello = await channel.receive()
    assert hello is not None
    nothing = cast(WorkerConfig, cast(Any, None))  # it knows no broker
    handle = WorkerHandle(
        name, nothing, channel, ProcessClock(name, same_boot=True), hello["versions"]
    )
    handle.listen()
    cluster.started_clients.add(name, handle)
    return handle
