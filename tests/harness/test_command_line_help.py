"""What the command line says of itself: version, exit codes, completion, short lists."""

import os
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from harness.claims.claims import shipped
from harness.cli import main
from harness.systems.catalogue import layout_names, system_names

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = [
    *((name,) for name in ("run", "demo", "analyse", "compare", "nightly", "serve", "pack")),
    *((name,) for name in ("judge", "up", "status", "fault", "down")),
    *((name,) for name in ("heal", "doctor", "build", "list")),
    *(("campaign", name) for name in ("run", "table", "collect", "articles", "layouts")),
    *(("campaign", name) for name in ("judge", "page", "expectations")),
    *(("new", name) for name in ("scenario", "topology")),
    *(("reference", name) for name in ("mirrored", "2m2s")),
]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def test_version_is_the_one_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version").startswith("mqproof ")
    assert PROJECT["version"] == "0.2.0"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_help_ends_with_the_exit_codes(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(said(capsys, *command, "--help").split())
    codes = text.rpartition("Exit codes: ")[2]
    places = [codes.find(f"{code} ") for code in ("0", "130", "254", "255")]
    assert all(first < second for first, second in pairwise([-1, *places])), codes


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "offered"), [("ru", "run"), ("lis", "list")])
def test_a_shell_completes_commands(typed: str, offered: str) -> None:
    completion = {
        "_MQPROOF_COMPLETE": "complete_bash",
        "COMP_WORDS": f"mqproof {typed}",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "harness"],
        env=os.environ | completion,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [offered], "")


@pytest.mark.parametrize("system", ["rabbitmq-quorum", "rocketmq-2m2s"])
def test_layouts_of_a_system_have_a_line_each(
    system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    head, *lines = said(capsys, "list", "layouts", "--system", system).splitlines()
    names = {label.partition("@")[0] for label in layout_names(system)}
    assert head == f"{system}:"
    assert {line.split()[0] for line in lines} == names
    assert len(lines) == len(names)


def test_every_claim_has_a_line_and_concerns_a_system(capsys: pytest.CaptureFixture[str]) -> None:
    every = {claim.name for claim in shipped()}
    assert {line.split()[0] for line in said(capsys, "list", "claims").splitlines()} == every
    own = {}
    for name in system_names():
        lines = said(capsys, "list", "claims", "--system", name).splitlines()
        own[name] = {line.split()[0] for line in lines}
        assert own[name] < every
    assert "always-promoting-loses" in own["rabbitmq-mirrored"] - own["rocketmq-2m2s"]


@pytest.mark.parametrize("flag", [("--system", "rabbitmq-quorum"), ("--details",)])
def test_a_flag_that_means_nothing_is_refused(
    flag: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("list", "faults", *flag)) == 254
    assert f"{flag[0]}: goes with layouts and claims, not with faults" in capsys.readouterr().err
