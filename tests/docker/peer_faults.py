"""A fault of peer links, told alike for every system: done, seen, undone, seen to be gone."""

from collections.abc import Awaitable, Callable

from faults.core.mechanisms import TOXIPROXY
from faults.core.model import Armed, Proof
from faults.executors.nothing import NothingExecutor
from faults.kinds.peer_links.slow_peers import SlowPeersOptions
from faults.performing import perform_all
from faults.rhythm import Rhythm
from faults.verification import gone, held, prepare
from harness.deploy.compose.cluster import ComposeCluster
from tests.rigs.clusters.fault_world import REAL_OPTIONS_OF

OPTIONS_OF = {**REAL_OPTIONS_OF, "slow_peers": SlowPeersOptions(latency_s=1.0)}
GONE_LIMIT_S = 60.0
_BELIEF_LIMIT_S = 2.0


async def nothing() -> None:
    """Meanwhile."""


async def played(
    cluster: ComposeCluster, fault: Armed, meanwhile: Callable[[], Awaitable[object]] = nothing
) -> tuple[Proof, Proof]:
    """Proofs that it held and that it went; `meanwhile` is awaited while it stands."""
    await prepare(fault, cluster.witness)
    try:
        receipt = await perform_all(cluster.executor, fault.actions)
        rhythm = Rhythm(cluster.executor, fault, receipt)
        holds = await held(fault, cluster.witness)
        await meanwhile()
        await rhythm.end()
    finally:
        await perform_all(cluster.executor, fault.undo)
    left = await gone(fault, cluster.witness, GONE_LIMIT_S)
    await cluster.witness.dismiss(fault)
    await perform_all(cluster.executor, fault.undo)  # again is no error
    return holds, left


async def mistaken(cluster: ComposeCluster, fault: Armed, other: Armed) -> tuple[Proof, Proof]:
    """What is said of `other` while `fault` stands, and that `fault` held."""
    said: list[Proof] = []

    async def ask() -> None:
        said.append(await held(other, cluster.witness, 0.1))

    holds, left = await played(cluster, fault, ask)
    assert left.ok, left.doubt
    return said[0], holds


async def pretended(cluster: ComposeCluster, fault: Armed) -> Proof:
    """The verification result of an executor that does nothing."""
    await prepare(fault, cluster.witness)
    await perform_all(NothingExecutor(peer_links=TOXIPROXY), fault.actions)
    proof = await held(fault, cluster.witness, _BELIEF_LIMIT_S)
    await cluster.witness.dismiss(fault)
    return proof
