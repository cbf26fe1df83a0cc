"""`mqproof reference`: what can be played with is what systems declare."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
import typer

from harness.cli import main
from harness.commands import reference
from harness.systems.port import Foreground
from harness.systems.registry import OURS, SystemRegistry

WORDS = {name: own.foreground.word for name, own in OURS.items() if own.foreground}
WRITE = "import sys; open(sys.argv[1], 'w').write(sys.argv[2]); sys.exit(7)"


def pigeons(
    into: Annotated[str, typer.Option(help="A file.")], nodes: Annotated[int, typer.Option()] = 3
) -> tuple[str, ...]:
    """Pigeons, until Ctrl-C."""
    return (sys.executable, "-c", WRITE, into, str(nodes))


@pytest.fixture
def _another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system of another package."""
    own = replace(OURS["reference-mirrored"], name="acme", foreground=Foreground("coo", pigeons))
    known = SystemRegistry({**OURS, "acme": own}, {"acme": "acme 1.2"}, {})
    monkeypatch.setattr(reference, "registry", lambda: known)


def test_no_word_means_two_systems() -> None:
    assert len({*WORDS.values()}) == len(WORDS) > 0


@pytest.mark.usefixtures("_another")
def test_reference_help_lists_every_systems_own_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reference", "--help"]) == 0
    output = capsys.readouterr().out
    assert "Pigeons, until Ctrl-C." in output
    assert all(word in output for word in (*WORDS.values(), "coo"))


@pytest.mark.slow
@pytest.mark.usefixtures("_another")
def test_command_becomes_the_program_and_returns_its_exit_code(
    tmp_path: Path,
) -> None:
    into = tmp_path / "told"
    assert main(["reference", "coo", "--into", str(into), "--nodes", "5"]) == 7
    assert into.read_text() == "5"
    assert main(["reference", "coo", "--into", "a", "--into", "b"]) == 254


@pytest.mark.usefixtures("_another")
def test_our_system_wins_over_a_foreign_namesake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (name, word), *_ = WORDS.items()
    taken = replace(OURS[name], name="acme", foreground=Foreground(word, pigeons))
    known = SystemRegistry({**OURS, "acme": taken}, {"acme": "acme 1.2"}, {})
    monkeypatch.setattr(reference, "registry", lambda: known)
    assert main(["reference", word, "--help"]) == 0
    assert "Pigeons" not in capsys.readouterr().out


def test_an_undeclared_word_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reference", "coo"]) == 254
    assert "No such command 'coo'" in capsys.readouterr().err


def test_nohup_lets_it_outlive_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reference._parent() == os.getppid()
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    assert reference._parent() is None


@pytest.mark.slow
def test_early_end_of_the_cluster_or_parent_is_noticed() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cluster:
        assert reference._ends_first(cluster.pid, cluster), "it is not our parent's pid any more"
        cluster.terminate()
        assert not reference._ends_first(os.getppid(), cluster)
        assert not reference._ends_first(None, cluster)
