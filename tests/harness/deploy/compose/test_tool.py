"""The compose tool that is there, found and run through small scripts that stand for it."""

import asyncio
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy.compose.tool import AddressTaken, ComposeTool, find_tool
from tests.rigs.machine.loops import in_a_loop

pytestmark = pytest.mark.slow

PLUGIN = 'test "$1" = compose || exit 1\necho 2.40.3\n'
NO_PLUGIN = 'echo "unknown command" >&2; exit 1\n'
STANDALONE = "echo 1.29.2\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is searched for programs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}")
    file.chmod(0o755)


def test_the_plugin_is_preferred(programs: Path) -> None:
    program(programs, "docker", PLUGIN)
    program(programs, "docker-compose", STANDALONE)
    assert find_tool() == ComposeTool(("docker", "compose"), "2.40.3")


def test_the_old_tool_serves_where_there_is_no_plugin(programs: Path) -> None:
    program(programs, "docker", NO_PLUGIN)
    program(programs, "docker-compose", STANDALONE)
    assert find_tool() == ComposeTool(("docker-compose",), "1.29.2")


def test_without_any_it_says_how_to_get_one(programs: Path) -> None:
    program(programs, "docker", NO_PLUGIN)
    with pytest.raises(DeployError, match="install Docker's compose plugin"):
        find_tool()


@in_a_loop
async def test_compose_gets_the_project_and_the_file(programs: Path) -> None:
    program(programs, "docker-compose", f'echo "$@" > {programs}/said\n')
    tool = ComposeTool(("docker-compose",), "1.29.2")
    await tool.run("p1", Path("/f/compose.yaml"), ["up", "--detach"], 10.0)
    said = (programs / "said").read_text().strip()
    assert said == "--project-name p1 --file /f/compose.yaml up --detach"


@in_a_loop
async def test_a_failure_reports_its_last_lines(programs: Path) -> None:
    program(programs, "docker-compose", "echo started; echo 'no such image' >&2; exit 3\n")
    tool = ComposeTool(("docker-compose",), "1.29.2")
    with pytest.raises(DeployError, match=r"up failed:\nstarted\nno such image"):
        await tool.run("p1", Path("/f"), ["up"], 10.0)


@in_a_loop
async def test_compose_is_ended_at_its_time_limit(programs: Path) -> None:
    program(programs, "docker-compose", "while :; do :; done\n")
    tool = ComposeTool(("docker-compose",), "1.29.2")
    with pytest.raises(DeployError, match="did not end within 0 s"):
        await asyncio.wait_for(tool.run("p1", Path("/f"), ["up"], 0.2), 5.0)


@in_a_loop
async def test_taken_addresses_are_an_error_of_their_own(programs: Path) -> None:
    words = "failed to create network: Pool overlaps with other one on this address space"
    program(programs, "docker-compose", f"echo '{words}' >&2; exit 1\n")
    tool = ComposeTool(("docker-compose",), "1.29.2")
    with pytest.raises(AddressTaken, match="Pool overlaps"):
        await tool.run("p1", Path("/f"), ["up"], 10.0)
