"""A group of CTGMQ to play with: the configuration of each server, and a switch of its master."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import Truncation, of_broker, of_name_server
from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import request
from reference_impl.shell.play_ctgmq import GROUP, SwitchedGroup, switched_configurations
from reference_impl.shell.sendable import NotYet, _ask, _confirms
from tests.reference_impl.shell.test_play_rocketmq import _free_port

SWITCH_LIMIT_S = 40.0  # 10 s of silence; the machine may be busy


def test_every_server_understands_its_configuration(tmp_path: Path) -> None:
    group = SwitchedGroup(9876, 3, 2, "slave-ack", ["union", "grace"], compression=10)
    files = switched_configurations(group, tmp_path)
    servers = [
        configuration.name_server(text) for word, text in files.values() if word != "broker"
    ]
    brokers = [configuration.broker(text) for word, text in files.values() if word == "broker"]
    rules = (ReplicaRule.UNION, ReplicaRule.GRACE)
    for server in servers:
        control, members = of_name_server(server)
        assert (control.without, control.times.expiry) == (rules, 1_000)
        assert (len(members.peers), members.times.ledger_heartbeat) == (3, 200)
    replicas = [of_broker(one) for one in brokers]
    assert [one.name for one in replicas] == ["1", "2"]
    assert {one.truncation for one in replicas} == {Truncation.SLAVE_ACK}
    assert {one.without for one in replicas} == {rules}
    assert {one.times.lease for one in replicas} == {700}


def test_no_two_servers_share_a_port(tmp_path: Path) -> None:
    files = switched_configurations(SwitchedGroup(9876, 5, 3), tmp_path)
    ports = []
    for word, text in files.values():
        if word == "broker":
            broker = configuration.broker(text)
            ports += [broker.listen_port, broker.listen_port - 2, broker.copies_port]
        else:
            server = configuration.name_server(text)
            own = server.control_members[server.control_self_id]
            ports += [server.listen_port, int(own.rpartition(":")[2])]
    assert len({*ports}) == len(ports)


@pytest.mark.slow
def test_a_killed_master_is_replaced_by_its_slave() -> None:
    port = _free_port()
    words = ["reference_impl", "ctgmq", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        addresses = [f"127.0.0.1:{port + number}" for number in range(3)]
        assert process.stdout.readline().strip() == ";".join(addresses)
        lines = [process.stdout.readline() for _ in range(5)]
        numbers = [line.rpartition(" ")[2].strip() for line in lines if GROUP in line]
        time.sleep(3)  # noqa: TID251  (the slave joins the set)
        old = _master(port)
        os.kill(int(numbers[(old - port - 1035) // 10]), signal.SIGKILL)
        until_s = time.monotonic() + SWITCH_LIMIT_S
        while not _is_switched(port, old):
            assert time.monotonic() < until_s, "no new master"
    finally:
        process.terminate()
        process.wait(20)


def _master(port: int) -> int:
    """The port of the master that the first name server shows; 0: it shows none."""
    answer = _ask(("127.0.0.1", port), request(RequestCode.GET_BROKER_CLUSTER_INFO, 1))
    brokers = json.loads(answer.body)["brokerAddrTable"].get(GROUP, {"brokerAddrs": {}})
    return int(brokers["brokerAddrs"].get("0", ":0").rpartition(":")[2])


def _is_switched(port: int, old: int) -> bool:
    new = _master(port)
    if new in (0, old):
        return False
    try:
        _confirms(GROUP, ("127.0.0.1", new))
    except NotYet:
        return False
    return True
