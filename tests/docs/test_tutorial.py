"""docs/tutorial: every file is shown whole and passes a dry run; commands exist."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from harness.cli import main
from harness.judging import verdict_file

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tutorial"
CHAPTERS = sorted(FOLDER.glob("[0-9]-*.md"))
FILES = sorted(FOLDER.glob("*.toml"))
PAGES = [*CHAPTERS, ROOT / "README.md", ROOT / "docs" / "running.md"]  # their commands are run dry
REFERENCES = [page for page in sorted(FOLDER.parent.glob("*.md")) if page not in PAGES]
DRY = {"run", "nightly"}  # commands that can show what they would do
GROUPS = {"campaign", "new", "reference"}


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in one language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page.read_text("utf-8"))


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each mqproof command in a shell block or an indented one."""
    indented = re.findall(r"(?m)^    (mqproof .*)$", page.read_text("utf-8"))
    shell = [
        line for block in blocks(page, "sh") for line in block.replace("\\\n", " ").splitlines()
    ]
    for line in (*shell, *indented):
        if line.startswith("mqproof "):
            yield shlex.split(line, comments=True)[1:]


COMMANDS = [
    pytest.param(words, id=f"{page.stem}: {' '.join(words)}")
    for page in (*PAGES, *REFERENCES)
    for words in commands(page)
]
DRY_COMMANDS = [
    pytest.param(words, id=f"{page.stem}: {' '.join(words)}")
    for page in PAGES
    for words in commands(page)
    if words[0] in DRY and not re.search(r"[A-Z]{3,}", " ".join(words))
]


@pytest.fixture
def readers_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with the files of the tutorial, as a reader saves them."""
    for file in FILES:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_tutorial_has_five_chapters_that_lead_on() -> None:
    assert [page.stem[0] for page in CHAPTERS] == list("12345")
    for page, following in pairwise(CHAPTERS):
        assert f"]({following.name})" in page.read_text("utf-8").splitlines()[-1]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_chapter_shows_each_file_whole(file: Path) -> None:
    (page,) = (one for one in CHAPTERS if f"Save this as `{file.name}`" in one.read_text("utf-8"))
    assert file.read_text("utf-8") in blocks(page, "toml")


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_exists_and_accepts_its_flags(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = words[: 2 if words[0] in GROUPS else 1]
    assert main([*command, "--help"]) == 0
    known = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", capsys.readouterr().out))
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known


@pytest.mark.parametrize("words", DRY_COMMANDS)
@pytest.mark.usefixtures("readers_folder")
def test_a_command_passes_the_dry_run(words: list[str]) -> None:
    assert main([*(word for word in words if word != "--dry-run"), "--dry-run"]) == 0


@pytest.mark.parametrize("chapter", CHAPTERS[:4], ids=lambda chapter: chapter.stem)
@pytest.mark.usefixtures("readers_folder")
def test_the_load_of_a_chapter_is_the_planned_one(
    chapter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = (one for one in commands(chapter) if one[0] == "run" and "--dry-run" not in one)
    for words in played:
        assert main([*words, "--dry-run"]) == 0
    seconds = re.findall(r"settle of all runs: (\d+) s at least", capsys.readouterr().out)
    row = re.search(rf"{chapter.name}\).* \| ([\d.]+) minutes", (FOLDER / "README.md").read_text())
    assert row is not None
    assert float(row[1]) == round(sum(map(int, seconds)) / 60, 1)


@pytest.mark.usefixtures("readers_folder")
def test_the_night_of_chapter_5_is_the_planned_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nightly", "every-night.toml", "--results", "nights", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "0 h 12 min of 2 h 00 min" in out
    assert sum(int(number or 1) for number in re.findall(r"planned: (?:(\d+) x )?", out)) == 5
    assert "five runs, planned with 12 minutes" in CHAPTERS[4].read_text("utf-8")


def test_a_misspelt_kind_is_reported_as_chapter_2_says(
    readers_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = readers_folder / "slow-mirror.toml"
    path.write_text(path.read_text("utf-8").replace('kind = "freeze"', 'kind = "frezze"'))
    assert main(["run", path.name, "--dry-run"]) == 254
    message = capsys.readouterr().err
    assert all(part in message for part in ("line 19", "did you mean 'freeze'?"))


@pytest.mark.usefixtures("readers_folder")
@pytest.mark.parametrize("kind", ["kill", "stop", "partition"])
def test_the_other_kinds_of_chapter_2_fit_its_scenario(readers_folder: Path, kind: str) -> None:
    path = readers_folder / "slow-mirror.toml"
    path.write_text(path.read_text("utf-8").replace('kind = "freeze"', f'kind = "{kind}"'))
    assert main(["run", path.name, "--system", "reference-mirrored", "--dry-run"]) == 0


def test_the_report_has_the_sections_of_chapter_4() -> None:
    templates = (ROOT / "harness" / "report" / "templates").glob("*.html")
    heads = re.findall(r"<h[24][^>]*>([^<{]+)</h", "".join(map(Path.read_text, templates)))
    (page,) = (one for one in CHAPTERS if one.stem.startswith("4"))
    named = set(re.findall(r'"([A-Z][^"]+)"', page.read_text("utf-8")))
    assert named
    assert named <= set(heads)


def test_the_program_of_chapter_4_prints_each_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = {"name": "run-1", "claims": [{"claim": "one-copy", "verdict": "PASS"}]}
    (tmp_path / verdict_file.NAME).write_text(json.dumps({"runs": [run]}))
    monkeypatch.setattr(sys, "argv", ["verdicts.py", str(tmp_path / verdict_file.NAME)])
    (page,) = (one for one in CHAPTERS if one.stem.startswith("4"))
    (program,) = blocks(page, "python")
    exec(program, {})
    assert capsys.readouterr().out == "run-1 one-copy PASS\n"
