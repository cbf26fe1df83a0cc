"""The commands that bring a RabbitMQ node into alarm, and out of it."""

import os
import subprocess
from pathlib import Path

import pytest

from faults.core.alarms import NOTHING
from faults.kinds import OPTIONS
from harness.systems.rabbitmq.core.alarms import ALARMS, RABBITMQ_ALARMS


def test_every_resource_of_scenarios_has_its_own_alarm() -> None:
    named = set(OPTIONS["resource"].choices)
    assert named == {*RABBITMQ_ALARMS.raised} == {*RABBITMQ_ALARMS.cleared} == {*ALARMS}
    for commands in (RABBITMQ_ALARMS.raised, RABBITMQ_ALARMS.cleared):
        assert len(set(commands.values())) == len(named)


@pytest.mark.parametrize(
    ("resource", "own", "other"),
    [("memory", "vm_memory_monitor", "rabbit_disk"), ("disk", "rabbit_disk_monitor", "vm_memory")],
)
def test_one_alarm_is_cleared_by_the_nodes_own_configuration(
    resource: str, own: str, other: str
) -> None:
    program, evaluates, script = RABBITMQ_ALARMS.cleared[resource]
    assert (program, evaluates) == ("rabbitmqctl", "eval")
    assert own in script and "application:get_env" in script
    assert other not in script


def swept(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(folder)}
    return subprocess.run(
        ["/bin/sh", *RABBITMQ_ALARMS.all_cleared[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_in_a_container_of_another_broker_nothing_is_cleared(tmp_path: Path) -> None:
    said = swept(tmp_path)
    assert (said.returncode, said.stdout.strip()) == (0, NOTHING)


@pytest.mark.slow
@pytest.mark.parametrize("status", [0, 70])
def test_all_alarms_are_cleared_beside_a_node_and_output_reported(
    tmp_path: Path, status: int
) -> None:
    program = tmp_path / "rabbitmqctl"
    program.write_text(f'#!/bin/sh\necho "told $1: $2"\nexit {status}\n')
    program.chmod(0o755)
    said = swept(tmp_path)
    assert said.returncode == status
    assert said.stdout.startswith("told eval: ")
    assert "vm_memory_monitor" in said.stdout and "rabbit_disk_monitor" in said.stdout
