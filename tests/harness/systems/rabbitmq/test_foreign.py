"""A foreign cluster of RabbitMQ whose management API says what is written down here."""

import pytest

from harness.systems.catalogue import load_system
from harness.systems.foreign import Access, ForeignBrokers
from harness.systems.topologies import foreign_of, read_topology
from tests.rigs.brokers.fake_agent import FakeAgent, Said
from tests.rigs.clusters.topologies import HEAD, text
from tests.rigs.machine.loops import in_a_loop

MEMBERS = "[queues]\nmembers = 3\n"
ADDRESSES = tuple(f"10.0.0.{number}" for number in (1, 2, 3))
NODES = [{"name": f"rabbit@ref{number}", "net_ticktime": 10} for number in (1, 2, 3)]


FLAGS = "/api/feature-flags"
IN_KHEPRI: Said = (200, [{"name": "khepri_db", "state": "enabled"}])
IN_MNESIA: Said = (200, [{"name": "khepri_db", "state": "disabled"}])


def cluster(
    system: str, *versions: str, handling: str = "", flags: Said | None = None
) -> ForeignBrokers:
    """`versions`: of its three nodes; "" is none. `handling`: of partitions, by the file.
    `flags`: what the second node answers; None: it does not know the question."""
    tables = (MEMBERS,) if system == "rabbitmq-quorum" else ()
    line = f'partition_handling = "{handling}"\n' if handling else ""
    source = text(*tables, head=line + HEAD.replace("reference-mirrored", system))
    found = read_topology("staging", source, (system,))
    said: dict[tuple[str, str], Said] = {}
    for address, version in zip(ADDRESSES, versions, strict=True):
        said[address, "/api/nodes"] = (200, NODES)
        body = {"rabbitmq_version": version} if version else {}
        said[address, "/api/overview"] = (200, body)
    if flags is not None:
        said[ADDRESSES[1], FLAGS] = flags
    access = Access(
        topology=found,
        agent=FakeAgent(said),  # type: ignore[arg-type]
        login=("ann", "x"),
        ours=tuple,
        versions=load_system(system).versions,
    )
    return foreign_of(found).brokers(access)


@pytest.mark.parametrize(
    ("system", "versions", "why"),
    [
        ("rabbitmq-mirrored", ("4.0.5",) * 3, "RabbitMQ 4.0 removed mirrored queues"),
        ("rabbitmq-stream", ("3.8.9",) * 3, "RabbitMQ 3.9 introduced streams"),
        ("rabbitmq-mirrored", ("3.13.7",) * 3, ""),
        ("rabbitmq-quorum", ("4.0.5",) * 3, ""),
        ("rabbitmq-stream", ("",) * 3, ""),
        ("rabbitmq-stream", ("a fork",) * 3, ""),
        ("reference-mirrored", ("4.0.5",) * 3, ""),
    ],
)
def test_a_version_without_the_system_contradicts_the_file(
    system: str, versions: tuple[str, ...], why: str
) -> None:
    @in_a_loop
    async def compared() -> None:
        found = await cluster(system, *versions).contradictions()
        assert len(found) == bool(why)
        assert all(why in one and "alpha, beta, gamma report" in one for one in found)

    compared()


@in_a_loop
async def test_doctor_shows_the_hosts_that_are_too_new() -> None:
    brokers = cluster("rabbitmq-mirrored", "3.13.7", "4.0.5", "")
    rows = {row.what: row async for row in brokers.examined()}
    assert rows["version"].found.startswith("beta report RabbitMQ 4.0.5")
    assert "another `system`" in rows["version"].remedy


@pytest.mark.parametrize("system", ["rabbitmq-quorum", "rabbitmq-stream"])
@pytest.mark.parametrize(
    ("handling", "version", "flags", "hosts"),
    [
        ("pause_minority", "4.0.5", IN_KHEPRI, "beta"),
        ("autoheal", "4.2.1", IN_KHEPRI, "beta"),
        ("pause_minority", "4.3.6", None, "alpha, beta, gamma"),
        ("pause_minority", "4.2.1", None, ""),
        ("pause_minority", "4.0.5", IN_MNESIA, ""),
        ("pause_minority", "3.10.8", (401, "not authorised"), ""),
        ("ignore", "4.3.6", IN_KHEPRI, ""),
        ("", "4.3.6", IN_KHEPRI, ""),
    ],
)
def test_partition_handling_of_nodes_in_khepri_contradicts_the_file(
    system: str, handling: str, version: str, flags: Said | None, hosts: str
) -> None:
    @in_a_loop
    async def compared() -> None:
        brokers = cluster(system, *(version,) * 3, handling=handling, flags=flags)
        found = await brokers.contradictions()
        assert len(found) == bool(hosts)
        for one in found:
            assert one.startswith(f"{hosts} keep metadata in Khepri, but partition_handling = ")
            assert 'write `partition_handling = "ignore"` into the file' in one

    compared()
