"""What a user's image must hold: the version and the management plugin, as its commands report."""

import pytest

from harness.systems.containers import Probed
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS, RABBITMQ_USERS_IMAGE

read = RABBITMQ_USERS_IMAGE.read


@pytest.mark.parametrize("before", ["", "warning: the VM runs with latin1\n"])
def test_version_and_plugin_are_read_beside_warnings(before: str) -> None:
    assert read(f"{before}4.1.2\nrabbitmq_management\n") == Probed("4.1.2", "")


def test_a_missing_plugin_is_a_problem() -> None:
    found = read("4.1.2\n{:query, :no_plugins_found}\n")
    assert found == Probed("4.1.2", "it lacks the plugin rabbitmq_management")


@pytest.mark.parametrize("output", ["", "bash: line 1: rabbitmqctl: command not found\n"])
def test_an_image_without_a_version_is_a_problem(output: str) -> None:
    found = read(output)
    assert found.version == ""
    assert (output.strip() or "nothing") in found.problem


def test_the_conventions_name_the_entry_point() -> None:
    wanted = RABBITMQ_CONTAINERS.users_image
    assert wanted is RABBITMQ_USERS_IMAGE
    assert wanted.entry_point in wanted.conventions
