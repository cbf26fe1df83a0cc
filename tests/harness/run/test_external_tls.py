"""A whole run over TLS through a proxy: each broker's own name is checked."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.external.doctor import examine
from harness.deploy.external.site import noted
from harness.plan.layouts.topology import Topology
from harness.plan.model import Window
from harness.run_folder.seal import seal
from harness.systems.topologies import layout_of, read_topology
from spark_analysis.schema.facts import Facts
from tests.oracle.judge import judge
from tests.rigs.clusters import external as rig
from tests.rigs.clusters import tls_front
from tests.rigs.clusters.certificates import Authority
from tests.rigs.clusters.external import Owner, performed
from tests.rigs.clusters.tls_front import Front
from tests.rigs.clusters.topologies import HEAD, HOSTS, START, SYSTEMS
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")


@contextmanager
def encrypted(owner: Owner, folder: Path) -> Iterator[Topology]:
    """The same cluster behind listeners with TLS that demand a client's certificate; each has a
    certificate for its own name alone."""
    authority = Authority.founded(folder / "authority")
    client = authority.signs("client")
    fronts = [
        Front(authority.signs(host, f"DNS:{host}.test"), node.port, authority.certificate)
        for host, node in zip(HOSTS, owner.nodes, strict=True)
    ]
    tls = (
        f'[tls]\nca = "{authority.certificate}"\n'
        f'certificate = "{client.certificate}"\nkey = "{client.key}"\n'
    )
    with tls_front.standing(*fronts) as ports:
        source = owner.text(START, tls, head=HEAD.replace("10 s", "60 s"), kinds=("freeze",))
        for host, node, port in zip(HOSTS, owner.nodes, ports, strict=True):
            way = f'amqps = "127.0.0.1:{port}"\nserver_name = "{host}.test"'
            source = source.replace(f'amqp = "127.0.0.1:{node.port}"', way)
        yield read_topology("staging", source, SYSTEMS)


def test_links_break_over_tls_as_without_it(owner: Owner, tmp_path: Path) -> None:
    faults = (fault("hang"), fault("slow"), fault("reset"))
    windows = (
        Window(1, faults[0], 0.5, 4.0),
        Window(2, faults[1], 8.0, 5.0),
        Window(3, faults[2], 16.0, 3.0),
    )
    run = plan(*faults)
    run = replace(run, schedule=replace(run.schedule, windows=windows), deployment="external")
    with encrypted(owner, tmp_path) as topology:
        of = replace(run, layout=layout_of(topology))
        asyncio.run(asyncio.wait_for(performed(of, tmp_path), 240))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    seen = [(one.kind, one.verified, one.gone, one.unverified_reason) for one in manifest.windows]
    assert seen == [(one.kind.name, True, True, "") for one in faults]
    assert manifest.facts is not None
    counted = {
        row.measure: row.count
        for row in judge(Facts.from_json(manifest.facts), rows_of(folder)).counts
    }
    assert not {"lost", "loss_unknown", "unexpected"} & counted.keys()
    assert counted["state"] > 100
    assert (noted(), owner.names("queues")) == ((), [])


def test_doctor_logs_in_over_tls_by_each_brokers_name(owner: Owner, tmp_path: Path) -> None:
    with encrypted(owner, tmp_path) as topology:
        rows = {row.what: row for row in asyncio.run(examine(topology))}
        assert all(row.ok for row in rows.values()), rows
        other = replace(topology.brokers[0], server_name="beta.test")
        swapped = replace(topology, brokers=(other, *topology.brokers[1:]))
        row = {row.what: row for row in asyncio.run(examine(swapped))}["alpha: AMQP"]
    assert not row.ok
    assert "certificate verify failed: Hostname mismatch" in row.found
