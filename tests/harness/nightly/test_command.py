"""`mqproof nightly` as it is typed."""

import fcntl
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.campaigns import playing as campaign
from harness.cli import main
from harness.judging.exits import Judge
from harness.nightly import playing, record
from tests.harness.nightly.nights import night
from tests.harness.nightly.test_suite import CELLS, HEAD
from tests.harness.nightly.verdicts import experiment, run_of

CELL = ("master-crash", "reference-mirrored", "all-automatic@T=10", "pika")
ONE = HEAD + CELLS.replace(', "cut-one-node"', "")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(ONE)
    return path


@pytest.fixture
def outcomes_to_play(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What each play is to come to: "lost", or nothing in particular."""
    outcomes: list[str] = []

    def play(
        folder: Path,
        words: Sequence[str],
        log: campaign.Log,
        more: Sequence[str],
        judge: Judge,
    ) -> int:
        lost = bool(outcomes) and outcomes.pop(0) == "lost"
        lost = lost or "--misbehave" in words
        flag, name = more[:2]
        assert (flag, judge) == ("--name", Judge.CLAIMS)
        replay = f"mqproof run {' '.join(words)}"
        experiment(folder, name, [run_of(CELL, lost=int(lost))], replay=replay)
        return 1 if lost else 0

    monkeypatch.setattr(campaign, "play", play)
    monkeypatch.setattr(playing, "busy", lambda pause: 0.0)
    return outcomes


def good(folder: Path, runs: int = 30) -> None:
    experiment(folder / "good", "e", [run_of(CELL, out_s=3 + n / 100) for n in range(runs)])


def test_a_dry_run_says_what_fits_into_the_night(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nightly", str(suite), "--results", str(tmp_path / "r"), "--dry-run"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("of 8 h 00 min")
    assert said[1].startswith("planned: master-crash · reference-mirrored")
    assert said[1].endswith("it was never judged")
    assert said[2].startswith("there is no baseline")
    assert not (tmp_path / "r").exists()


def test_night_ends_with_message_pages_and_exit_code(
    suite: Path, tmp_path: Path, outcomes_to_play: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    good(tmp_path)
    words = ["nightly", str(suite), "--results", str(tmp_path / "r"), "--label", "commit 1f2e"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "mqproof nightly: nothing is worse (exit code 0)"
    assert "commit 1f2e" in out
    assert "pages: " in err
    assert (tmp_path / "r" / "site" / "index.html").exists()
    assert len(list((tmp_path / "r" / "nights").glob("*/nightly.xml"))) == 1
    outcomes_to_play.append("lost")
    assert main(words) == 1
    assert capsys.readouterr().out.startswith("mqproof nightly: WORSE in 1 place (exit code 1)")


def test_without_a_baseline_nothing_passes(
    suite: Path, tmp_path: Path, outcomes_to_play: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nightly", str(suite), "--results", str(tmp_path / "r")]) == 2
    out = capsys.readouterr().out
    assert out.splitlines()[0] == (
        "mqproof nightly: no baseline yet: 1 play judged, no harm "
        "(exit code 2: accept a baseline, docs/gate.md 2)"
    )
    assert "no baseline: 1" in out


def test_a_rehearsal_is_red_and_no_night_counts_it(
    suite: Path, tmp_path: Path, outcomes_to_play: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    good(tmp_path, runs=1)
    words = ["nightly", str(suite), "--results", str(tmp_path / "r")]
    suite.write_text(ONE + 'misbehave = "drop"\n')
    assert main(words) == 1
    out = capsys.readouterr().out
    assert out.startswith("mqproof nightly: REHEARSAL: WORSE in 1 place (exit code 1)")
    assert "rehearsal: brokers misbehaved on purpose (drop); no later night counts it" in out
    for one in (tmp_path / "r").glob("20*"):
        shutil.copytree(one, tmp_path / "good" / one.name)
    suite.write_text(ONE)
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("mqproof nightly: nothing is worse (exit code 0)")
    outcomes_to_play.append("lost")  # the copied rehearsal does not excuse it
    assert main(words) == 1
    assert "did not happen before" in capsys.readouterr().out


def test_interrupted_past_night_is_reported_before_another_begins(
    suite: Path, tmp_path: Path, outcomes_to_play: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    good(tmp_path)
    results = tmp_path / "r"
    record.save(results, night(1, cells=(CELL,), exit_code=None))
    assert main(["nightly", str(suite), "--results", str(results)]) == 0
    nights = record.nights(results)
    assert [one.exit_code for one in nights] == [2, 0]  # its experiments are gone
    assert "mqproof judges what was played" in capsys.readouterr().err


def test_after_a_reboot_only_a_broken_night_continues(
    suite: Path, tmp_path: Path, outcomes_to_play: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "r"
    words = ["nightly", str(suite), "--results", str(results), "--go-on"]
    assert main(words) == 0
    assert record.nights(results) == []
    record.save(results, night(1, cells=(CELL,), exit_code=None))
    assert main(words) == 2
    assert [one.exit_code for one in record.nights(results)] == [2]


def test_two_at_a_time_in_one_folder_are_refused(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nights = tmp_path / "r" / record.NIGHTS
    nights.mkdir(parents=True)
    held = os.open(nights, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert main(["nightly", str(suite), "--results", str(tmp_path / "r")]) == 254
    os.close(held)
    assert "another mqproof" in capsys.readouterr().err


def test_everything_that_is_wrong_is_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text(ONE.replace("hours = 8", "hours = 0"))
    words = ["nightly", str(suite), "--label", "x" * 300, "--changed", "kafka"]
    assert main([*words, "--results", str(suite / "below")]) == 254
    said = capsys.readouterr().err
    for part in ("hours", "--label: has 300 characters", "no system 'kafka'", "--results"):
        assert part in said
