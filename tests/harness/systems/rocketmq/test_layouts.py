"""RocketMQ's layouts: what a file says, what it must not say, what its servers are reported."""

from pathlib import Path

import pytest

from harness.systems.catalogue import CatalogueError, layout_names, load_layout, load_system
from harness.systems.rocketmq.core import master_slave as settings
from harness.systems.rocketmq.core.layout import (
    Timers,
    brokers,
    home,
    name_servers,
    own,
    servers,
    topic_of,
)

ROCKET = "rocketmq-2m2s"
OWN = """
name = "mine"
title = "Of my own"
version = "4.9.7"
replication = "sync"
flush = "async"
[[hosts]]
name = "a"
processes = ["name-server", "broker-a-0"]
[[hosts]]
name = "b"
processes = ["broker-a-1"]
[profiles.quick]
idle_s = 20
register_s = 10
poll_s = 5
"""


def refused(folder: Path, text: str) -> list[str]:
    """What is reported of a file, a mistake a line, without its path."""
    file = folder / "wrong.toml"
    file.write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load_layout(ROCKET, str(file))
    return [line.removeprefix(f"{file}, ") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize("name", layout_names(ROCKET))
def test_built_in_layouts_have_two_name_servers_and_two_copies(name: str) -> None:
    layout = load_layout(ROCKET, name)
    assert layout.label == name
    assert len(name_servers(layout.hosts)) == 2
    assert layout.copies == 2
    timers = own(layout).timers
    assert layout.detection_timeout_s == timers.idle_s > max(timers.register_s, timers.poll_s)


def test_a_layout_of_another_family_has_no_rocketmq_settings() -> None:
    with pytest.raises(TypeError, match="all-automatic@T=10 of rabbitmq-mirrored is no layout of"):
        own(load_layout("rabbitmq-mirrored", "all-automatic@T=10"))


def test_a_profile_moves_all_three_timers_together() -> None:
    found = {
        profile: own(load_layout(ROCKET, f"colocated@{profile}"))
        for profile in ("compressed", "default", "patient")
    }
    assert {profile: one.timers for profile, one in found.items()} == {
        "compressed": Timers(20, 10, 5),
        "default": Timers(120, 30, 30),
        "patient": Timers(40, 10, 30),
    }


def test_replication_flush_and_version_are_keys_that_a_likeness_changes() -> None:
    words = {}
    for name in ("colocated", "colocated-async", "colocated-flush", "colocated-v5"):
        settings = own(load_layout(ROCKET, name))
        words[name] = (settings.version, settings.replication, settings.flush)
    assert words == {
        "colocated": ("4.9.7", "sync", "async"),
        "colocated-async": ("4.9.7", "async", "async"),
        "colocated-flush": ("4.9.7", "sync", "sync"),
        "colocated-v5": ("5.3.3", "sync", "async"),
    }


def test_servers_share_no_port_including_derived_broker_ports() -> None:
    for name in ("colocated", "separated", "one-group"):
        taken = []
        for server in servers(load_layout(ROCKET, name).hosts):
            beside = (-2, 0, 1) if server.is_broker else (0,)
            taken += [server.port + offset for offset in beside]
        assert len(set(taken)) == len(taken)


def test_a_host_carries_its_name_server_before_its_broker(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN.replace('"name-server", "broker-a-0"', '"broker-a-0", "name-server"'))
    assert load_layout(ROCKET, str(file)).hosts[0].processes == ("name-server", "broker-a-0")


def test_topic_belongs_to_the_group_of_the_drawn_host() -> None:
    hosts = load_layout(ROCKET, "separated").hosts
    assert [one.host for one in brokers(hosts)] == ["rkt1", "rkt2", "rkt3", "rkt4"]
    assert [home(hosts, host.name) for host in hosts] == [
        *("broker-a", "broker-b", "broker-a", "broker-b"),
        *("broker-a", "broker-a"),  # name servers alone: the layout's first group
    ]


def test_a_topic_has_no_dots() -> None:
    topic = topic_of("mqproof.master-crash-1-0a1b.orders")
    assert topic == "mqproof_master-crash-1-0a1b_orders"
    assert topic_of(topic) == topic


def test_all_mistakes_of_a_file_are_reported_with_choices(
    tmp_path: Path,
) -> None:
    """Report all mistakes at once, each with its place."""
    messages = refused(
        tmp_path,
        OWN.replace('"sync"', '"half"')
        .replace('"4.9.7"', '"4.8.0"')
        .replace('["broker-a-1"]', '["broker-1", "rabbitmq"]')
        .replace("register_s = 10", "register_s = 5")
        + "detection_timeout_s = 10",
    )
    assert [line.split(": ")[0] for line in messages] == [
        "line 4, version",
        "line 5, replication",
        *["line 12, [[hosts]] 2, processes"] * 2,
        "line 15, [profiles.quick], register_s",
        "line 17, [profiles.quick], detection_timeout_s",
    ]
    assert "mqproof runs versions from 4.9.0 on, not 4.8.0" in messages[0]
    assert "valid: sync | async" in messages[1]
    assert "'broker-1' is no process; valid: name-server | broker-a-0" in messages[2]
    assert "valid: idle_s | register_s | poll_s" in messages[5]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"name-server", ', "", "line 7, hosts: no host has a name-server"),
        (
            "broker-a-1",
            "broker-a-0",
            "[[hosts]] 2, processes: 'broker-a-0' is another host's already",
        ),
        ("broker-a-1", "broker-a-2", "broker-a has the numbers 0, 2, not 0, 1, 2"),
        ("broker-a-0", "broker-b-1", "broker-b has the numbers 1, not 0"),
        ('["broker-a-1"]', '["broker-a-1", "broker-b-0"]', "found broker-a 2, broker-b 1"),
        ('["broker-a-1"]', '["name-server", "name-server"]', "'name-server' stands there 2 times"),
        (
            '["broker-a-1"]',
            '["name-server"]',
            "line 5, replication: 'sync' on groups without a slave: no slave would acknowledge",
        ),
        ('name = "b"', 'name = "a"', "every host needs a name of its own; 'a' is another's"),
        ('name = "b"', 'name = "agent"', "no host may be called"),
        ("poll_s = 5", 'poll_s = "5"', "poll_s: must be a whole number, not '5'"),
        ('"mine"', f'"{"n" * 32}"', "name: has small letters, digits and hyphens, at most 31"),
        ('name = "b"', 'name = "localhost"', "no host may be called 'localhost'"),
        ("poll_s = 5", "poll_s = 20", "idle_s = 20 must be above register_s = 10 and poll_s = 20"),
        ('flush = "async"', 'flush = "async"\ncopies = 2', "copies: there is no such key"),
    ],
)
def test_contradictory_layouts_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in "\n".join(refused(tmp_path, OWN.replace(old, new, 1)))


def test_a_layout_of_mirrored_queues_is_none_of_rocketmqs(tmp_path: Path) -> None:
    file = Path(__file__).parents[4] / "compose" / "rabbitmq-mirrored" / "layouts"
    messages = refused(tmp_path, (file / "all-automatic.toml").read_text())
    keys = {line.split(": ")[0].rpartition(", ")[2] for line in messages}
    assert keys >= {"version", "replication", "copies"}


# --- a server's settings -----------------------------------------------------------------------


def configuration(layout: str, host: str, process: str) -> dict[str, str]:
    return settings.configuration(load_layout(ROCKET, layout), host, process)


def test_a_broker_advertises_its_hosts_name_and_registers_everywhere() -> None:
    slave = configuration("colocated", "rkt4", "broker-b-1")
    assert (slave["brokerName"], slave["brokerId"], slave["brokerRole"]) == (
        *("broker-b", "1"),
        "SLAVE",
    )
    assert (slave["brokerIP1"], slave["brokerIP2"], slave["listenPort"]) == (
        *("rkt4", "rkt4"),
        "10941",
    )
    assert slave["namesrvAddr"] == "rkt1:9876;rkt2:9877"
    assert slave["autoCreateTopicEnable"] == "false"


@pytest.mark.parametrize(
    ("layout", "role", "flush", "in_sync"),
    [
        ("colocated", "SYNC_MASTER", "ASYNC_FLUSH", None),
        ("colocated-async", "ASYNC_MASTER", "ASYNC_FLUSH", None),
        ("colocated-flush", "SYNC_MASTER", "SYNC_FLUSH", None),
        ("colocated-v5", "SYNC_MASTER", "ASYNC_FLUSH", "2"),
        ("colocated-async-v5", "ASYNC_MASTER", "ASYNC_FLUSH", None),
    ],
)
def test_a_master_waits_for_the_replicas_that_the_layout_names(
    layout: str, role: str, flush: str, in_sync: str | None
) -> None:
    master = configuration(layout, "rkt1", "broker-a-0")
    assert (master["brokerRole"], master["flushDiskType"]) == (role, flush)
    assert master.get("inSyncReplicas") == in_sync


def test_the_profile_reaches_name_servers_and_brokers() -> None:
    name_server = configuration("separated@default", "rkt6", "name-server")
    assert name_server == {"listenPort": "9877", "serverChannelMaxIdleTimeSeconds": "120"}
    broker = configuration("separated@compressed", "rkt1", "broker-a-0")
    assert broker["registerNameServerPeriod"] == "10000"


def test_unsupported_operations_have_a_reason() -> None:
    system = load_system(ROCKET)
    assert {"alarm", "set_policy", "force_boot"} <= set(system.cannot)
    assert "promote" not in system.cannot
    assert all(system.cannot.values())
