"""`mqproof campaign` from a command line: what it says, and what it refuses."""

from pathlib import Path

import pytest

from harness import cli
from harness.campaigns import playing
from harness.campaigns.pages import TABLES
from harness.campaigns.stored import CampaignRun, as_csv, found
from tests.harness.campaigns.judged import LAYOUT, REAL, failed, run, verdict_file
from tests.harness.campaigns.test_playing import Played

CHOICE = ("--system", REAL, "--layout", "all-automatic", "--scenario", "mirror-crash")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One run that failed, kept as CSV."""
    path = tmp_path / "campaign"
    path.mkdir()
    (path / "kept.csv").write_text(as_csv([failed()]))
    return path


def command(*words: object) -> int:
    return cli.main(["campaign", *map(str, words)])


def problems(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The places of what was reported, by line."""
    first, *lines = capsys.readouterr().err.splitlines()
    assert first == "mqproof: bad input:"
    return [line.partition(": ")[0] for line in lines]


# --- run -----------------------------------------------------------------------------------------


def test_a_dry_run_says_what_is_left_and_starts_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("run", folder, *CHOICE, "--repeats", 2, "--dry-run") == 0
    assert capsys.readouterr().out.splitlines() == [
        "0 of 1 cell was judged 2 times",
        f"left on {LAYOUT} of {REAL}: mirror-crash (1 of 2)",
        f"next: mqproof run mirror-crash --system {REAL} --layout {LAYOUT}",
    ]
    assert command("run", folder / "new", *CHOICE, "--dry-run") == 0
    assert not (folder / "new").exists()


def test_every_experiment_gets_the_spark_master(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played([run(run="r-2")])
    monkeypatch.setattr(playing, "play", played)
    spark = ("--master", "spark://h:7077", "--conf", "spark.cores.max=2")
    assert command("run", folder, *CHOICE, "--repeats", 2, *spark) == 0
    assert played.words[0].endswith("--master spark://h:7077 --conf spark.cores.max=2")


@pytest.mark.parametrize(("left", "code"), [([run(run="r-2")], 0), ([], 2)])
def test_campaign_exits_0_if_judged_and_2_if_not_judgeable(
    folder: Path, monkeypatch: pytest.MonkeyPatch, left: list[CampaignRun], code: int
) -> None:
    monkeypatch.setattr(playing, "play", Played(left, code=255))
    assert command("run", folder, *CHOICE, "--repeats", 2) == code


def test_all_mistakes_of_a_campaign_are_reported_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--repeats", 0, "--minutes", "nan", "--piece", 1000, "--system", "rabit")
    assert command("run", folder / "kept.csv" / "x", *words, "--profile", "") == 254
    places = ["--repeats", "--minutes", "--piece", "FOLDER", "--system", "--profile"]
    assert problems(capsys) == places


def test_a_folder_that_cannot_be_made_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("run", "/proc/mqproof", *CHOICE) == 254
    assert problems(capsys) == ["FOLDER"]


def test_choice_that_applies_nowhere_is_reported_with_its_reasons(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--system", REAL, "--layout", "unmirrored", "--scenario", "mirror-crash")
    assert command("run", folder, *words) == 254
    assert problems(capsys) == [f"mirror-crash on unmirrored@T=10 of {REAL}"]


def test_folder_with_an_unreadable_file_gets_no_new_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict_file(folder, "e")
    path = folder / "e" / "verdict.json"
    path.write_text('{"format": "mqproof verdict", "version": 2, "experiment": "e"}')
    assert command("run", folder, *CHOICE) == 254
    assert problems(capsys) == [f"{path}, {key}" for key in ("seed", "versions", "runs")]


# --- table, articles, collect --------------------------------------------------------------------


def test_the_table_of_a_folder_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("table", folder, *CHOICE) == 0
    head, _, row, *_ = capsys.readouterr().out.splitlines()
    assert head == f"| scenario | layout | {REAL} |"
    assert row.startswith(
        f"| mirror-crash | {LAYOUT} | FAIL: mirror-failure-affects-own-clients in 1 of"
    )


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (("table", "NONE", "--scenario", "x"), ["--scenario", "FOLDER"]),
        (
            ("articles", "NONE", "--system", "x", "--article", "y"),
            ["--system", "--article", "FOLDER"],
        ),
        (("collect", "NONE", "-o", "."), ["--output", "FOLDER"]),
        (("collect", "NONE", "-o", "/none/../x.csv"), ["--output", "FOLDER"]),
    ],
)
def test_words_and_folders_that_are_wrong_are_reported_together(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], places: list[str]
) -> None:
    assert command(*(str(folder / "none") if word == "NONE" else word for word in words)) == 254
    assert problems(capsys) == places


def test_a_folder_without_a_run_makes_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("articles", tmp_path, "--system", REAL) == 254
    assert problems(capsys) == ["FOLDER"]


def test_collecting_runs_into_their_folder_is_repeatable(
    folder: Path,
) -> None:
    verdict_file(folder, "e")
    before = found(folder)
    for _ in range(2):
        assert command("collect", folder, "-o", folder / "kept.csv") == 0
        assert (folder / "kept.csv").read_text() == as_csv(before)
    assert found(folder) == before


def test_file_that_is_no_csv_of_runs_is_never_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.txt").write_text("a letter")
    assert command("collect", folder, "-o", folder / "mine.txt") == 254
    assert problems(capsys) == ["--output"]
    assert (folder / "mine.txt").read_text() == "a letter"


# --- help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["run", "table", "collect", "articles", "judge", "page", "expectations"]
)
def test_each_command_says_what_it_is_for(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--help") == 0
    assert name in capsys.readouterr().out
    assert command(name, "--help") == 0
    assert f"Usage: mqproof campaign {name}" in capsys.readouterr().out


def test_help_of_judge_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("judge", "--help") == 0
    words = set(capsys.readouterr().out.replace(",", " ").replace(";", " ").split())
    assert set(TABLES) <= words
