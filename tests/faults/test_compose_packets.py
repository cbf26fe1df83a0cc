"""Faults of packets in containers: the commands, and the host in whose network each runs."""

import json
from dataclasses import dataclass, field
from typing import cast

import pytest
from docker import DockerClient

from faults.core.actions import ClearImpairment, Impair
from faults.core.model import FaultError, Impairment, PacketSamples, Receipt
from faults.core.witness import ECHO_INTERVAL_S
from faults.executors import echoes
from faults.executors.compose import ComposeExecutor
from faults.executors.compose_witness import ComposeWitness
from faults.executors.core import netem
from faults.executors.project import Output, Project
from faults.executors.service_ports import Greeting, ServicePorts
from harness.cleanup.docker_projects import DockerProjects
from tests.faults.test_compose_witness import FakeAgent
from tests.rigs.machine.loops import in_a_loop

NO_ENGINE = cast(DockerClient, None)
RECEIPT = Receipt(1, 2)
PORTS = ServicePorts(
    hello=Greeting(says="HELO", begins="HOLA"),
    canaries=None,
    peer_word=None,
    usual=5672,
    to_peers=None,
    ports={},
)
UNKNOWN = "helper in the namespace of rmq1: Error: Specified qdisc kind is unknown."


@dataclass
class Helpers:
    """A project whose helpers print this."""

    text: str = ""
    failure: str = ""
    scripts: list[tuple[str, str]] = field(default_factory=list)

    def addresses(self, host: str) -> list[str]:
        return [f"10.0.0.{host[-1]}"]

    def help(self, host: str, script: str) -> Output:
        self.scripts.append((host, script))
        if self.failure:
            raise FaultError(self.failure)
        return Output(0, self.text, RECEIPT)


def executor(project: Helpers) -> ComposeExecutor:
    made = ComposeExecutor(NO_ENGINE, "p")
    made._project = cast(Project, project)
    return made


def witness(project: Helpers) -> ComposeWitness:
    async def lists(_host: str) -> bool:
        return True

    made = ComposeWitness(NO_ENGINE, "p", FakeAgent({}), lambda _: ("proxy", 1), lists, PORTS)
    made._project = cast(Project, project)
    return made


@in_a_loop
async def test_a_host_is_impaired_and_cleared_in_its_own_network() -> None:
    project, action = Helpers(), Impair("rmq1", loss=20)
    assert await executor(project).perform(action) == RECEIPT
    assert await executor(project).perform(ClearImpairment("rmq1")) == RECEIPT
    assert project.scripts == [("rmq1", netem.impair(action)), ("rmq1", netem.clear())]


@in_a_loop
async def test_a_kernel_without_netem_makes_the_action_fail() -> None:
    with pytest.raises(FaultError, match="qdisc kind is unknown"):
        await executor(Helpers(failure=UNKNOWN)).perform(Impair("rmq1", loss=20))


@in_a_loop
async def test_echo_requests_are_sent_from_the_peers_network() -> None:
    project = Helpers('{"sent": 3, "seconds": [0.25, 0.5]}')
    found = await witness(project).echoes("rmq2", "rmq1", 3, 1.5)
    assert found == PacketSamples(3, (0.25, 0.5))
    assert project.scripts == [("rmq2", echoes.command("10.0.0.1", 3, ECHO_INTERVAL_S, 1.5))]


@in_a_loop
async def test_our_netem_is_read_in_the_hosts_network() -> None:
    late = {"delay": {"delay": 0.2, "jitter": 0, "correlation": 0}}
    entry = {"kind": "netem", "handle": netem.HANDLE, "dev": "eth0", "root": True, "drops": 0}
    project = Helpers(json.dumps([{**entry, "options": late}]))
    assert await witness(project).impairments("rmq1") == {"eth0": Impairment(0, 0.2, 0, 0, 0)}
    assert project.scripts == [("rmq1", netem.show())]


@pytest.mark.parametrize(
    ("text", "swept"), [("eth0\neth1\n", ["eth0", "eth1"]), ("", [])], ids=["there", "none"]
)
def test_healing_without_a_journal_removes_our_netem(text: str, swept: list[str]) -> None:
    project = Helpers(text)
    found = DockerProjects(NO_ENGINE)._sweep_queues(cast(Project, project), "rmq1")
    assert found == [f"netem removed from {interface} of rmq1" for interface in swept]
    assert project.scripts == [("rmq1", netem.clear())]
