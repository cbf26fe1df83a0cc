"""Two groups of RocketMQ to play with: what each server is told."""

from pathlib import Path

from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.settings import Role
from reference_impl.shell.play_rocketmq import Playing, configurations

NAME_SERVERS = ["127.0.0.1:9876", "127.0.0.1:9877"]


def test_every_server_understands_what_it_is_told(tmp_path: Path) -> None:
    told = configurations(Playing(9876, "sync", 10), tmp_path)
    servers = [configuration.name_server(text) for word, text in told.values() if word != "broker"]
    brokers = [configuration.broker(text) for word, text in told.values() if word == "broker"]
    assert [f"127.0.0.1:{one.listen_port}" for one in servers] == NAME_SERVERS
    assert [(one.broker_name, one.broker_id, one.broker_role) for one in brokers] == [
        ("broker-a", 0, Role.SYNC_MASTER),
        ("broker-a", 1, Role.SLAVE),
        ("broker-b", 0, Role.SYNC_MASTER),
        ("broker-b", 1, Role.SLAVE),
    ]
    assert all(one.name_servers == NAME_SERVERS for one in brokers)
    assert brokers[0].times.register_name_server_period == 3_000


def test_no_two_servers_share_a_port_and_all_are_on_loopback(tmp_path: Path) -> None:
    told = configurations(Playing(9876, "async", 1), tmp_path)
    brokers = [configuration.broker(text) for word, text in told.values() if word == "broker"]
    ports = [
        port for one in brokers for port in (one.listen_port, one.listen_port - 2, one.copies_port)
    ]
    assert len({*ports, 9876, 9877}) == len(ports) + 2
    assert {one.bind_address for one in brokers} == {"127.0.0.1"}
