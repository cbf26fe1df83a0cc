"""Alarms in containers: the system's commands are run beside the broker, and what they say counts.

That a broker is in alarm then, and is no more, tests/docker/test_faults.py looks at.
"""

from dataclasses import dataclass, field
from typing import cast

import pytest
from docker import DockerClient

from faults.core.actions import ClearAlarm, RaiseAlarm
from faults.core.model import FaultError, Receipt
from faults.executors.compose import ComposeExecutor
from faults.executors.project import RUNNING, Output, Project
from harness.cleanup import docker_projects
from harness.cleanup.docker_projects import DockerProjects
from harness.systems.rabbitmq.core.alarms import RABBITMQ_ALARMS
from tests.rigs.machine.loops import in_a_loop

NO_ENGINE = cast(DockerClient, None)
RAISE = RaiseAlarm("dove1", "memory", ("starve", "memory"))
CLEAR = ClearAlarm("dove1", "memory", ("feed", "memory"))
RECEIPT = Receipt(1, 2)


@dataclass(frozen=True)
class Process:
    name: str
    status: str


@dataclass
class Beside:
    """A project of one host, whose process says this to whatever is run beside it."""

    text: str = ""
    status: int = 0
    process: str = RUNNING
    commands: list[list[str]] = field(default_factory=list)

    def processes(self, host: str) -> list[Process]:
        return [Process(f"{host}-broker", self.process)]

    def execute(self, process: Process, command: list[str]) -> Output:
        assert process.name == "dove1-broker"
        self.commands.append(command)
        return Output(self.status, self.text, RECEIPT)


def executor(project: Beside) -> ComposeExecutor:
    made = ComposeExecutor(NO_ENGINE, "p")
    made._project = cast(Project, project)
    return made


@in_a_loop
async def test_an_alarm_is_raised_and_cleared_by_its_actions_command() -> None:
    project = Beside()
    assert await executor(project).perform(RAISE) == RECEIPT
    assert await executor(project).perform(CLEAR) == RECEIPT
    assert project.commands == [["starve", "memory"], ["feed", "memory"]]


@pytest.mark.parametrize("action", [RAISE, CLEAR])
@in_a_loop
async def test_a_command_that_fails_has_done_nothing(action: RaiseAlarm | ClearAlarm) -> None:
    with pytest.raises(FaultError, match="memory on dove1: status 69: no such node"):
        await executor(Beside("no such node", 69)).perform(action)


@in_a_loop
async def test_clearing_an_alarm_of_a_stopped_process_runs_no_command() -> None:
    project = Beside(process="exited")
    await executor(project).perform(CLEAR)
    assert not project.commands


@pytest.mark.parametrize(
    ("said", "status", "swept"),
    [
        ("[disk]\n", 0, ["dove1-broker: alarms [disk] cleared"]),
        ("[]\n", 0, []),
        ("", 0, []),
        ("it boots", 69, []),
    ],
)
def test_healing_without_a_journal_sends_all_declared_clearing_commands(
    said: str, status: int, swept: list[str]
) -> None:
    project = Beside(said, status)
    found = DockerProjects(NO_ENGINE)._sweep_alarms(cast(Project, project), "dove1")
    assert found == swept * len(docker_projects.alarms_cleared()), "this one knows every word"
    assert project.commands == [list(command) for command in docker_projects.alarms_cleared()]
    assert list(RABBITMQ_ALARMS.all_cleared) in project.commands
