"""Whether a place that does not answer holds no broker any more."""

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import pytest

from faults.actions import Start, Stop
from faults.executors.project import Output, Project
from faults.model import Receipt
from harness.cluster.port import Lifeless
from harness.deploy.external.cluster import ExternalCluster
from harness.deploy.lifeless import by_application, by_process
from tests.fault_world import World
from tests.topologies import FREEZE, command, topology


def test_a_process_that_has_ended_holds_no_broker_and_is_started() -> None:
    found = asyncio.run(by_process(World(dead={"rmq2": 137}), "rmq2"))
    assert found == Lifeless("its process has ended with exit code 137", (Start("rmq2", 30.0),))


def test_a_process_that_runs_may_hold_one_frozen_or_not() -> None:
    assert asyncio.run(by_process(World(frozen={"rmq2"}), "rmq2")) is None


@dataclass
class Beside:
    """A project in which a command beside the node says this."""

    status: int
    text: str

    def processes(self, place: str) -> list[str]:
        return [place]

    def execute(self, container: str, command: list[str]) -> Output:
        assert command[-1] == "rabbit_boot_state:get()."
        return Output(self.status, self.text, Receipt(0, 1))


def test_rabbitmq_that_says_that_it_is_stopped_is_ended_and_started_anew() -> None:
    found = by_application(cast(Project, Beside(0, "stopped\n")), "rmq2")
    assert found is not None
    assert found.waits
    assert [type(one) for one in found.start] == [Stop, Start]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, "ready"),
        (0, "booting"),
        (0, "core_started"),
        (69, "nodedown"),
        (124, ""),
        (1, "stopped"),
    ],
)
def test_rabbitmq_that_does_not_say_so_may_live(status: int, text: str) -> None:
    assert by_application(cast(Project, Beside(status, text)), "rmq2") is None


def owned(commands: str, place: str = "beta") -> Lifeless | None:
    """What a cluster that is not ours says of a place; nothing of it but its file is asked."""
    site = SimpleNamespace(topology=topology(commands=commands))
    cluster = cast(ExternalCluster, SimpleNamespace(site=site))
    return asyncio.run(ExternalCluster.lifeless(cluster, place))


def test_a_broker_that_is_not_ours_is_started_by_its_owners_own_command() -> None:
    words = {"do": ["x", "do"], "undo": ["x", "undo"], "verify": ["x", "verify"]}
    kill, stop = command("kill", words), command("stop", words)
    assert owned(FREEZE + kill) == Lifeless("it does not answer", (Start("beta", after="kill"),))
    assert owned(kill + stop) == Lifeless("it does not answer", (Start("beta", after="stop"),))


def test_without_such_a_command_nobody_starts_a_broker_that_is_not_ours() -> None:
    assert owned(FREEZE) == Lifeless("it does not answer, and no command starts it", ())
