"""Servers of the reference as subprocesses: their list, their configuration, and the master."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from harness.cluster.orders import Promote, Synchronise
from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout
from harness.systems.port import Here, Node
from harness.systems.reference_2m2s import ConfigurationOperator, ReferenceServers
from harness.systems.rocketmq_2m2s import FixedRoles
from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.settings import Role
from tests.rigs.machine.loops import in_a_loop

LAYOUT = load_layout("reference-2m2s", "colocated@default")
MINUTE = load_layout("reference-2m2s", "colocated@minute")
SERVERS = ReferenceServers()
ADDRESSES = {host.name: f"127.70.1.{11 + place}" for place, host in enumerate(LAYOUT.hosts)}
QUEUE, COOKIE = "mqproof.r1.orders", "drawn for this cluster"


def node(word: str, layout: Layout = LAYOUT) -> Node:
    host = next(one.name for one in layout.hosts if word in one.processes)
    no_peers: dict[str, tuple[str, int]] = {}
    return Node(layout, host, word, ADDRESSES, int, no_peers, "/data", "/log", None, COOKIE)


def test_every_layout_process_belongs_to_its_host_without_shared_ports() -> None:
    units = SERVERS.units(LAYOUT)
    assert [(one.host, one.word) for one in units] == [
        *(("rkt1", "name-server"), ("rkt1", "broker-a-0"), ("rkt2", "name-server")),
        *(("rkt2", "broker-b-0"), ("rkt3", "broker-a-1"), ("rkt4", "broker-b-1")),
    ]
    taken = [(one.host, port) for one in units for port in one.ports]
    assert len(set(taken)) == len(taken)
    assert all(one.speaks_at in one.ports for one in units)


@pytest.mark.parametrize("word", ["broker-a-0", "broker-b-1"])
def test_broker_advertises_its_name_and_resolves_all_names(word: str) -> None:
    own = node(word)
    settings = configuration.broker(SERVERS.configuration(own))
    assert settings.broker_ip1 == own.host
    assert settings.bind_address == own.address == ADDRESSES[own.host]
    assert settings.addresses == ADDRESSES
    assert settings.name_servers == ["rkt1:9876", "rkt2:9877"]
    assert settings.store_path_root_dir == "/data/store"
    assert (settings.broker_role is Role.SLAVE) == word.endswith("1")


@pytest.mark.parametrize("word", ["broker-a-0", "broker-b-1"])
def test_brokers_and_name_servers_of_a_cluster_share_its_cookie(word: str) -> None:
    broker = configuration.broker(SERVERS.configuration(node(word)))
    served = configuration.name_server(SERVERS.configuration(node("name-server")))
    assert broker.peer_secret == served.peer_secret == COOKIE


def test_the_default_profile_has_rocketmqs_own_timers() -> None:
    served = configuration.name_server(SERVERS.configuration(node("name-server")))
    assert served.times.server_channel_max_idle_time == 120_000
    assert served.times.scan_not_active_broker_interval == 10_000


def test_compressed_layout_keeps_its_times_and_scales_all_others() -> None:
    """T is 4 s there: the real 120 s, by 30; and so is what no layout speaks of."""
    served = configuration.name_server(SERVERS.configuration(node("name-server", MINUTE)))
    assert MINUTE.detection_timeout_s == 4
    assert served.times.server_channel_max_idle_time == 4_000
    assert served.times.broker_channel_expired_time == 4_000
    assert served.times.scan_not_active_broker_interval == 333
    broker = configuration.broker(SERVERS.configuration(node("broker-a-1", MINUTE)))
    assert broker.times.register_name_server_period == 1_000
    assert broker.times.ha_housekeeping_interval == 667


def configurations(folder: Path) -> dict[tuple[str, str], Path]:
    """The configuration of every broker."""
    found = {}
    for unit in SERVERS.units(LAYOUT):
        if unit.word != "name-server":
            found[unit.host, unit.word] = folder / f"{unit.word}.conf"
            found[unit.host, unit.word].write_text(SERVERS.configuration(node(unit.word)))
    return found


def operator(files: dict[tuple[str, str], Path]) -> tuple[ConfigurationOperator, FixedRoles]:
    leading = FixedRoles(LAYOUT)
    here = cast(Any, replace(HERE, configured=lambda *unit: str(files[unit])))
    return ConfigurationOperator(here, lambda _: "broker-a", leading), leading


HERE = Here(LAYOUT, cast(Any, None), ADDRESSES, int, lambda *_: "", "127.70.1.100", ())


@in_a_loop
async def test_promoted_slave_and_old_master_swap_roles_at_start(
    tmp_path: Path,
) -> None:
    files = configurations(tmp_path)
    made, leading = operator(files)
    await made.carry_out(Promote(QUEUE, "rkt3"))
    old = configuration.broker(files["rkt1", "broker-a-0"].read_text())
    new = configuration.broker(files["rkt3", "broker-a-1"].read_text())
    assert (old.broker_id, old.broker_role) == (1, Role.SLAVE)
    assert (new.broker_id, new.broker_role) == (0, Role.SYNC_MASTER)
    master, slave = leading.slave_on("broker-a", "rkt1")
    assert (master.host, slave.host) == ("rkt3", "rkt1")


@in_a_loop
async def test_without_a_recorded_old_master_no_slave_is_promoted(
    tmp_path: Path,
) -> None:
    files = configurations(tmp_path)
    files["rkt1", "broker-a-0"] = tmp_path / "nowhere" / "broker-a-0.conf"
    made, leading = operator(files)
    with pytest.raises(DeployError, match="broker-a-1 was not made a master"):
        await made.carry_out(Promote(QUEUE, "rkt3"))
    new = configuration.broker(files["rkt3", "broker-a-1"].read_text())
    assert new.broker_role is Role.SLAVE
    assert leading.slave_on("broker-a", "rkt3")[0].host == "rkt1"


@in_a_loop
async def test_the_reference_operator_refuses_other_operations(tmp_path: Path) -> None:
    made, _ = operator(configurations(tmp_path))
    with pytest.raises(DeployError, match="takes no order"):
        await made.carry_out(Synchronise(QUEUE))
