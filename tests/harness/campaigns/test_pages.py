"""A published page: its tables are what its packed runs say, and nobody can change only one."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness import cli
from harness.campaigns import pages as published
from harness.campaigns.packed import judged
from harness.campaigns.page_tables import TABLES
from harness.run_folder.manifest import SEALED
from tests.histories import History
from tests.reports import CELL
from tests.run_folders import write_run
from tests.stored import stored
from tests.told_runs import crash, manifest_of

PUBLISHED = Path(__file__).parents[3] / "results" / "published"
MADE = [page.name for page in published.pages(PUBLISHED)]
PAGE = """# By hand

<!-- runs: runs/*.tar.xz -->
<!-- table: loss -->
an old table
<!-- end -->

A sentence.
"""


def recorded(folder: Path, history: History) -> None:
    """A run as one lies in an experiment's folder, sealed before there were checksums."""
    facts, rows = history.build()
    names = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    facts = replace(facts, run=folder.name, **names)
    write_run(folder, facts, rows)
    replace(manifest_of(facts, phase=SEALED), facts=facts.to_json()).save(folder)


def pack(experiment: Path, into: Path) -> int:
    return cli.main(["pack", str(experiment), "-o", str(into)])


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Of three runs: one lost two messages, one lost none, one was never begun."""
    experiment = stored(tmp_path / "e", [(name, CELL) for name in ("a", "b", "never")])
    recorded(experiment / "runs" / "a", crash(lost=[30, 31]))
    recorded(experiment / "runs" / "b", crash())
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    published.add(path, [experiment], pack)
    return path


def rows(page: Path, table: str) -> list[dict[str, str]]:
    """A table of the page's runs, by the names of its columns."""
    head, _, *lines = TABLES[table]([judged(file) for file in published.packs(page)])
    names = [name.strip() for name in head.strip("|").split("|")]
    return [
        dict(zip(names, (one.strip() for one in line.strip("|").split("|")), strict=True))
        for line in lines
    ]


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["published", *words])
    return published.main()


# --- pages ---------------------------------------------------------------------------------------


def test_what_stands_between_the_marks_is_made_anew_and_nothing_else(page: Path) -> None:
    text = published.made(page)
    assert text.startswith(PAGE.partition("an old table")[0])
    assert text.endswith("\n<!-- end -->\n\nA sentence.\n")
    assert "an old table" not in text
    page.write_text(text)
    assert published.made(page) == text


def test_a_page_that_is_not_what_its_runs_say_is_found(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, str(page), "--check") == 1
    assert "not what its runs say" in capsys.readouterr().out
    assert page.read_text() == PAGE  # nothing was written
    assert command(monkeypatch, str(page)) == 0
    assert command(monkeypatch, str(page), "--check") == 0
    page.write_text(page.read_text().replace("**1 of 2", "**0 of 2"))
    assert command(monkeypatch, str(page), "--check") == 1


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("no mark", "does not say which runs"),
        ("<!-- runs: none/*.tar.xz -->", "there is no none/*.tar.xz"),
        (PAGE.replace("table: loss", "table: gain"), "line 4: there is no table gain, but made"),
        (PAGE.replace("<!-- end -->", ""), "the table loss has no <!-- end -->"),
    ],
)
def test_a_page_that_cannot_be_made_is_told_and_left_alone(
    page: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    wrong: str,
) -> None:
    page.write_text(text)
    assert command(monkeypatch, str(page)) == 2
    assert wrong in capsys.readouterr().err
    assert page.read_text() == text


def test_a_pack_that_is_none_is_told(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (pack,) = published.packs(page)
    pack.write_bytes(pack.read_bytes()[:200])
    assert command(monkeypatch, str(page), "--check") == 2
    assert str(pack) in capsys.readouterr().err


@pytest.mark.parametrize("name", MADE)
def test_pages_carry_what_their_runs_say(name: str) -> None:
    page = PUBLISHED / name
    assert published.made(page) == page.read_text(encoding="utf-8")


def test_there_are_pages_that_are_made_from_runs() -> None:
    assert MADE


# --- tables --------------------------------------------------------------------------------------


def test_a_loss_is_told_by_runs_with_its_interval_and_what_was_not_judged_first(
    page: Path,
) -> None:
    (row,) = rows(page, "loss")
    assert row["runs"] == "**1 of 3 not judged**, 2 judged"
    assert (row["confirmed"], row["lost"]) == ("1,600", "2")
    assert row["runs with a loss"] == "**1 of 2, 1 not judged**"
    assert row["not excluded"] == "1.3 % to 99 % of runs"


def test_few_runs_stand_by_themselves_where_they_have_no_interval(page: Path) -> None:
    (row,) = rows(page, "out")
    assert row["runs whose times are known"] == "**not known of 1 of 3**, known of 2"
    assert row["longest silence: median"] == "0.29 s [0.29 s; 0.29 s]"


def test_a_broken_promise_has_its_runs_and_those_that_held_have_theirs(page: Path) -> None:
    told = {row["promise"]: row for row in rows(page, "promises")}
    broken = told["**not judged in 1 run**: `confirmed-hence-delivered`"]
    assert broken["broken in"] == "**1 of 2, 1 not judged**"
    assert broken["not excluded"] == "1.3 % to 99 % of runs"


def test_a_pack_tells_which_command_made_its_runs(page: Path) -> None:
    (row,) = rows(page, "made")
    assert (row["pack"], row["runs"]) == ("`e.tar.xz`", "3")
    assert row["made by"] == "`mqproof run master-crash --seed 7`"


def test_what_is_packed_already_is_left_as_it_is(page: Path, tmp_path: Path) -> None:
    (pack,) = published.packs(page)
    before = pack.stat().st_mtime_ns
    published.add(page, [tmp_path / "e"], pack)
    assert pack.stat().st_mtime_ns == before


def test_damaged_runs_are_not_added(page: Path, tmp_path: Path) -> None:
    other = stored(tmp_path / "f", [("a", CELL)])
    (other / "runs" / "a").mkdir(parents=True)
    with pytest.raises(published.Wrong, match="was not packed"):
        published.add(page, [other], pack)


def test_no_pack_is_made_but_by_the_users_own_command(page: Path, tmp_path: Path) -> None:
    into = tmp_path / "again.tar.xz"
    assert cli.main(["pack", str(tmp_path / "e"), "-o", str(into)]) == 0
    (pack,) = published.packs(page)
    assert into.read_bytes() == pack.read_bytes()
