"""Clients' links of a local cluster, as a plain socket sees them while a fault stands.

What is independent of executor and witness: that socket, and nothing else.
"""

import asyncio
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from faults.core.model import Armed, Proof
from faults.core.peers import peer_link
from faults.kinds.client_links.hang import HangOptions
from faults.kinds.peer_links.slow_peers import SlowPeersOptions
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.cluster.agent import AgentProxyError
from harness.deploy.local.cluster import LocalCluster
from tests.rigs.clusters.local import GONE_S, HELD_S, UNMIRRORED, armed, standing
from tests.rigs.machine.loops import within
from tests.rigs.runs.plans import plan

pytestmark = pytest.mark.slow

HEADER = b"AMQP\x00\x00\x09\x01"
PLAN = replace(plan(), layout=UNMIRRORED)
LIMIT_S = 120.0
SILENCE_S = 1.0
Link = tuple[str, int]


async def dialled(link: Link) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(*link)
    writer.write(HEADER)
    return reader, writer


async def met(link: Link) -> tuple[str, int, float]:
    """What a new connection that says the protocol's header meets: how it ended, how many bytes
    came, and the seconds until the last of them."""
    began, octets, seconds = time.monotonic(), 0, 0.0
    try:
        reader, writer = await dialled(link)
        async with asyncio.timeout(SILENCE_S):
            while chunk := await reader.read(65536):
                octets, seconds = octets + len(chunk), time.monotonic() - began
        end = "closed"
    except ConnectionRefusedError:
        return "refused", 0, 0.0
    except ConnectionResetError:
        end = "reset"
    except TimeoutError:
        end = "open"
    writer.transport.abort()
    return end, octets, seconds


async def story(cluster: LocalCluster, fault: Armed, link: Link) -> tuple[str, int, float]:
    """Plays the fault, believed and undone; what a new connection met meanwhile."""
    before = await met(link)
    assert before[0] == "open" and before[1] > 100, before
    await prepare(fault, cluster.witness)
    await perform_all(cluster.executor, fault.actions)
    holding = await held(fault, cluster.witness, HELD_S)
    meanwhile = await met(link)
    await undone(cluster, fault, holding)
    after = await met(link)
    assert after[:2] == before[:2], after
    return meanwhile


async def undone(cluster: LocalCluster, fault: Armed, holding: Proof) -> None:
    assert fault.undo
    await perform_all(cluster.executor, fault.undo)
    leaving = await gone(fault, cluster.witness, GONE_S)
    await cluster.witness.dismiss(fault)
    assert holding.ok, holding.doubt
    assert leaving.ok, leaving.doubt


@within(LIMIT_S)
async def test_a_client_sees_what_was_done_to_its_links(tmp_path: Path) -> None:
    async with standing(tmp_path) as cluster:
        link = (await cluster.link(PLAN, "publisher-1"))[1]
        where = cluster.dial(link.proxy)
        seen = {
            kind: await story(cluster, armed(cluster, kind, "ref2", (link.proxy,)), where)
            for kind in ("refuse", "reset", "slow", "cut_after")
        }
    assert seen["refuse"][0] == "refused"
    assert seen["reset"][:2] == ("reset", 0)
    assert seen["cut_after"][:2] == ("closed", 100)
    end, _, seconds = seen["slow"]
    assert end == "open"
    assert seconds >= 0.4  # 0.2 s there, and 0.2 s back


@within(LIMIT_S)
async def test_client_sees_its_closed_link_and_reconnects_later(tmp_path: Path) -> None:
    async with standing(tmp_path) as cluster:
        link = (await cluster.link(PLAN, "publisher-1"))[1]
        where = cluster.dial(link.proxy)
        fault = armed(cluster, "close", "ref2", (link.proxy,))
        reader, _ = await dialled(where)
        await reader.read(65536)
        await prepare(fault, cluster.witness)
        await perform_all(cluster.executor, fault.actions)
        assert await reader.read(65536) == b""
        assert (await met(where))[0] == "open"
        await undone(cluster, fault, await held(fault, cluster.witness, HELD_S))


@pytest.mark.parametrize("direction", ["to_broker", "to_client"])
@within(LIMIT_S)
async def test_half_hang_is_distinguished_from_whole_and_other_half(
    tmp_path: Path, direction: str
) -> None:
    async with standing(tmp_path) as cluster:
        link = (await cluster.link(PLAN, "publisher-1"))[1]
        fault = armed(cluster, "hang", "ref2", (link.proxy,), HangOptions(direction=direction))
        others = {"both", "to_broker", "to_client"} - {direction}
        await prepare(fault, cluster.witness)
        await perform_all(cluster.executor, fault.actions)
        holding = await held(fault, cluster.witness, HELD_S)
        for other in others:
            taken_for = armed(cluster, "hang", "ref2", (link.proxy,), HangOptions(direction=other))
            assert not (await held(taken_for, cluster.witness, 0.1)).ok
        end, octets, _ = await met(cluster.dial(link.proxy))
        await undone(cluster, fault, holding)
    assert (end, octets) == ("open", 0)


@within(LIMIT_S)
async def test_peer_delay_is_active_only_while_peers_are_slow(
    tmp_path: Path,
) -> None:
    async def heard_s(way: Link) -> float:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection(*way)
        assert await reader.read(1)
        writer.transport.abort()
        return time.monotonic() - began

    async with standing(tmp_path) as cluster:
        slow, other = (cluster.dial(peer_link("ref1", peer)) for peer in ("ref2", "ref3"))
        fault = armed(cluster, "slow_peers", "ref2", options=SlowPeersOptions(latency_s=0.5))
        await prepare(fault, cluster.witness)
        before = await heard_s(slow)
        await perform_all(cluster.executor, fault.actions)
        holding = await held(fault, cluster.witness, HELD_S)
        meanwhile, beside = await heard_s(slow), await heard_s(other)
        await undone(cluster, fault, holding)
        after = await heard_s(slow)
    assert meanwhile >= 0.5
    assert max(before, beside, after) < 0.5


@within(LIMIT_S)
async def test_a_listener_uses_the_requested_address_or_none(
    tmp_path: Path,
) -> None:
    async with standing(tmp_path) as cluster:
        place, upstream = f"{cluster.site.block.network}.77:4369", "127.0.0.1:1"
        ask = partial(cluster.agent.call, "proxy_create", 5.0, upstream=upstream)
        made = await ask(name="one", listen=place)
        assert made == {"port": 4369}
        with pytest.raises(AgentProxyError, match="address already in use"):
            await ask(name="another", listen=place)
