"""A DLedger group to play with: the configuration of each server, and a run of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.dledger.settings import of_broker
from reference_impl.shell.play_dledger import PlayingGroup, group_configurations
from tests.reference_impl.shell.test_play_rocketmq import _free_port


@pytest.mark.parametrize("members", [3, 5])
def test_every_server_understands_its_configuration(tmp_path: Path, members: int) -> None:
    files = group_configurations(PlayingGroup(9876, members, 10), tmp_path)
    servers = [
        configuration.name_server(text) for word, text in files.values() if word != "broker"
    ]
    brokers = [configuration.broker(text) for word, text in files.values() if word == "broker"]
    assert [one.listen_port for one in servers] == [9876, 9877]
    assert [of_broker(one).name for one in brokers] == [f"n{number}" for number in range(members)]
    assert brokers[0].times.ledger_heartbeat == 200


def test_no_two_servers_share_a_port(tmp_path: Path) -> None:
    files = group_configurations(PlayingGroup(9876, 5, 1), tmp_path)
    brokers = [configuration.broker(text) for word, text in files.values() if word == "broker"]
    ports = [port for one in brokers for port in (one.listen_port, one.listen_port - 2)]
    ports += [int(address.rpartition(":")[2]) for address in brokers[0].members.values()]
    assert len({*ports, 9876, 9877}) == len(ports) + 2


@pytest.mark.slow
def test_the_first_line_comes_when_the_group_confirms() -> None:
    port = _free_port()
    words = ["reference_impl", "dledger", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stdout.readline().strip() == f"127.0.0.1:{port};127.0.0.1:{port + 1}"
    finally:
        process.terminate()
        process.wait(20)
    assert process.stderr.read() == ""
