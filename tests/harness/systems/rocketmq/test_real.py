"""RocketMQ's Broker port over real servers with the settings of the containers."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from harness.cluster.polling import until
from harness.cluster.port import Roles
from harness.systems.catalogue import load_layout
from harness.systems.rocketmq.core.layout import own, servers
from harness.workers.protocol import Endpoint
from harness.workers.remoting.requests import Request
from harness.workers.rocketmq.connection import Connection
from tests.rigs.machine.loops import within
from tests.rigs.rocketmq.launcher import HERE
from tests.rigs.rocketmq.layouts import Running, standing
from tests.rigs.rocketmq.needs import require_servers

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
READY_LIMIT_S = 300.0  # six JVMs on a machine that has other things to do
TEST_LIMIT_S = 900.0
ASK_LIMIT_S = 30.0
HEART_BEAT = 34  # not ours to send, but here
QUEUE = "mqproof.r1.orders"


@pytest.mark.parametrize("name", ["colocated", "colocated-v5"])
def test_cluster_starts_loses_and_regains_a_master_and_cleans_up(
    name: str, tmp_path: Path
) -> None:
    """Remove the objects of a run from the brokers."""
    layout = load_layout("rocketmq-2m2s", f"{name}@compressed")
    require_servers(own(layout).version)

    @within(TEST_LIMIT_S)
    async def story() -> None:
        async with standing(layout, tmp_path) as running:
            await _ready(running)
            assert await running.broker.versions() == {"rocketmq": own(layout).version}
            await _declared(running)
            await _connected(running)
            await _killed(running)
            await _back(running)
            await _forgotten(running)

    story()


async def _ready(running: Running) -> None:
    began = time.monotonic()
    health = await running.broker.health(READY_LIMIT_S)
    print(f"clean after {time.monotonic() - began:.1f} s")
    assert health.clean, health.doubts
    for output in running.outputs():
        assert "boot success" in output
        assert " INFO " in output, "its log is its output"


async def _declared(running: Running) -> None:
    await running.broker.declare(QUEUE, True, "rkt1")
    assert await running.broker.roles(QUEUE) == Roles("rkt1", ("rkt3",), ("rkt3",))
    assert await running.broker.masters(QUEUE) == {"rkt1": True, "rkt3": False}
    assert await running.broker.connections("mqproof.r1.", close=False) == ()


async def _connected(running: Running) -> None:
    """A client is who it says that it is, with its heartbeat."""
    master = next(one for one in servers(running.layout.hosts) if one.process == "broker-a-0")
    connection = await Connection.connect(Endpoint("", HERE, master.port), ASK_LIMIT_S)
    beat = {
        "clientID": "10.0.0.9@mqproof.r1.publisher-1",
        "producerDataSet": [{"groupName": "mqproof_r1_orders_writers_3"}],
        "consumerDataSet": [],
    }
    request = Request(HEART_BEAT, "a heartbeat", body=json.dumps(beat).encode())  # type: ignore[arg-type]
    assert (await connection.ask(request, ASK_LIMIT_S)).header.code == 0
    listed = await running.broker.connections("mqproof.r1.", close=False)
    assert listed == ("mqproof.r1.publisher-1",)
    connection.close()
    await until(
        lambda: running.broker.connections("mqproof.r1.", close=False),
        lambda found: not found,
        ASK_LIMIT_S,
    )


async def _killed(running: Running) -> None:
    """The name server beside it goes with it: the other one tells."""
    running.kill("rkt1")
    await asyncio.sleep(1.0)  # until the kernel has told the other name server
    assert await running.broker.roles(QUEUE) == Roles(None, ("rkt3",), ())
    assert await running.broker.masters(QUEUE) == {"rkt1": None, "rkt3": False}
    assert not await running.broker.greets("rkt1")
    doubts = (await running.broker.health(0.0)).doubts
    assert {"name-server of rkt1 does not answer", "broker-a-0 of rkt1 does not answer"} <= set(
        doubts
    )


async def _back(running: Running) -> None:
    running.start("rkt1")
    health = await running.broker.health(READY_LIMIT_S)
    assert health.clean, health.doubts
    assert await running.broker.listed("rkt1")
    assert await running.broker.roles(QUEUE) == Roles("rkt1", ("rkt3",), ("rkt3",))


async def _forgotten(running: Running) -> None:
    """A slave of 5.3.3 takes no order; it copies what its master has, every 10 s."""
    await running.broker.delete("mqproof.r1.")
    assert await running.broker.roles(QUEUE) == Roles(None, (), ())
    assert await running.broker.connections("mqproof.r1.", close=True) == ()
