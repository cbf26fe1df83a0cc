"""A published page: its tables must match its packed runs."""

import errno
import os
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness import cli
from harness.campaigns import packed
from harness.campaigns import pages as published
from harness.campaigns.evidence import Evidence
from harness.campaigns.packed import judged, of_page
from harness.campaigns.pages import TABLES
from harness.run_folder.experiments import remember_merged
from harness.run_folder.manifest import SEALED
from spark_analysis.schema.words import Outcome
from tests.harness.campaigns.published import made_pages
from tests.rigs.histories.by_hand import PUBLISHER, History
from tests.rigs.histories.resources import sampled
from tests.rigs.runs.judged_runs import FAULT_MS, crash, manifest_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.run_folders import write_run
from tests.rigs.runs.stored import stored

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


def command(*words: object) -> int:
    return cli.main(["campaign", *map(str, words)])


def made(page: Path) -> str:
    return published.made(published.read(page)).text


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Of three runs: one lost two messages, one lost none, one was never begun."""
    experiment = stored(tmp_path / "e", [(name, CELL) for name in ("a", "b", "never")])
    recorded(experiment / "runs" / "a", crash(lost=[30, 31]))
    recorded(experiment / "runs" / "b", crash())
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    assert command("page", path, "--add", experiment) == 0
    path.write_text(PAGE)
    return path


def only(page: Path) -> Evidence:
    (one,) = published.read(page).evidence
    return one


def rows(page: Path, table: str) -> list[dict[str, str]]:
    """A table of the page's runs, by the names of its columns."""
    head, _, *lines = TABLES[table]([of_page(one) for one in published.read(page).evidence])
    names = [name.strip() for name in head.strip("|").split("|")]
    return [
        dict(zip(names, (one.strip() for one in line.strip("|").split("|")), strict=True))
        for line in lines
    ]


# --- pages ---------------------------------------------------------------------------------------


def test_only_text_between_the_marks_is_generated_again(page: Path) -> None:
    text = made(page)
    assert text.startswith(PAGE.partition("an old table")[0])
    assert text.endswith("\n<!-- end -->\n\nA sentence.\n")
    assert "an old table" not in text
    page.write_text(text)
    assert made(page) == text


def test_a_page_may_show_the_sentences_of_one_article_alone(page: Path) -> None:
    def sources(table: str) -> set[str]:
        page.write_text(PAGE.replace("table: loss", f"table: {table}"))
        rows = [line.split(" | ") for line in made(page).splitlines() if line.startswith("| `")]
        return {row[2].partition(",")[0] for row in rows}

    every = sources("articles")
    assert len(every) > 1
    assert [sources(f"articles {one}") for one in sorted(every)] == [
        {one} for one in sorted(every)
    ]


def test_page_that_contradicts_its_runs_is_found(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("page", page, "--check") == 1
    assert "is not what its runs say" in capsys.readouterr().out
    assert page.read_text() == PAGE  # nothing was written
    assert command("page", page) == 0
    assert command("page", page, "--check") == 0
    page.write_text(page.read_text().replace("**1 of 2", "**0 of 2"))
    assert command("page", page, "--check") == 1


TWICE = PAGE.replace("<!-- table: loss -->", "<!-- table: loss -->\n<!-- table: out -->")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("no mark", ["page.md: does not say which runs"]),
        ("<!-- runs: none/*.tar.xz -->", ["page.md: there is no none/*.tar.xz"]),
        ("<!-- runs: runs/*.tar.xz no/* -->", ["page.md: there is no no/*"]),
        ("<!-- runs: /etc/* -->", ["page.md: /etc/* names no files below its folder"]),
        (f"{PAGE}\n<!-- runs: x -->", ["page.md: says 2 times which runs it is made from"]),
        (TWICE, ["line 5: the table loss has no <!-- end -->"]),
        (f"{PAGE}<!-- end -->", ["line 9: there is no table or picture before this <!-- end -->"]),
        (
            PAGE.replace("table: loss", "table: loss seeds/002"),
            ["line 4: the table loss takes no 'seeds/002'; only `articles` takes one"],
        ),
        (
            PAGE.replace("table: loss", "table: articles seeds/02"),
            ["line 4: there is no article 'seeds/02'; did you mean 'seeds/002'?"],
        ),
        (
            PAGE.replace("table: loss", "table: lost").replace("<!-- end -->", ""),
            [
                "line 4: there is no table 'lost'; did you mean 'loss'?; valid: made | loss |",
                "page.md: the table lost has no <!-- end -->",
            ],
        ),
    ],
)
def test_all_problems_of_a_page_are_reported_without_changing_it(
    page: Path, capsys: pytest.CaptureFixture[str], text: str, wrong: list[str]
) -> None:
    page.write_text(text)
    assert command("page", page) == 254
    lines = capsys.readouterr().err.splitlines()[1:]
    assert len(lines) == len(wrong)
    assert [part in line for part, line in zip(wrong, lines, strict=True)] == [True] * len(wrong)
    assert page.read_text() == text


def test_correct_pages_stay_untouched_beside_a_wrong_one(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.md").write_text("no mark")
    assert command("page", page, tmp_path / "other.md", tmp_path / "none.md", page) == 254
    assert page.read_text() == PAGE
    output = capsys.readouterr().err
    for wrong in ("is named twice", "other.md: does not say", "none.md: cannot be read: No such"):
        assert wrong in output


def test_a_pack_that_is_none_is_reported(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack = only(page).pack
    pack.write_bytes(pack.read_bytes()[:20])
    only(page).marts.unlink()
    for words in (("page", page, "--check"), ("judge", pack), ("expectations", page)):
        assert command(*words) == 254
        message = f"{pack}: holds no experiment of ours: it is no whole tar file"
        assert message in capsys.readouterr().err


def test_a_full_disk_is_not_blamed_on_the_pack(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_pack: Path, into: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(packed, "unpack", full)
    assert command("judge", only(page).pack) == 2
    output = capsys.readouterr().err
    assert f"the campaign command did not finish: {tempfile.gettempdir()}/" in output
    assert "No space left on device" in output


def test_pack_without_an_experiment_is_reported_without_temporary_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e").mkdir()
    with tarfile.open(tmp_path / "e.tar.xz", "w:xz") as tar:
        tar.add(tmp_path / "e", "e")
    assert command("judge", tmp_path / "e.tar.xz") == 254
    assert "ours: e is no experiment's folder: no experiment.json" in capsys.readouterr().err


@pytest.mark.parametrize("page", made_pages())
def test_pages_carry_what_their_runs_say(page: Path) -> None:
    assert published.made(published.read(page)).is_there(published.read(page))


def test_there_are_pages_that_are_made_from_runs() -> None:
    assert made_pages()


# --- tables --------------------------------------------------------------------------------------


def test_losses_count_runs_with_interval_after_unjudged_runs(
    page: Path,
) -> None:
    """Report the runs that were not judged first, then the loss with its interval."""
    (row,) = rows(page, "loss")
    assert row["runs"] == "**1 of 3 not judged**, 2 judged"
    assert (row["confirmed"], row["lost"]) == ("1,600", "2")
    assert row["runs with a loss"] == "**1 of 2, 1 not judged**"
    assert row["rate over all runs"] == "95 % CI: 1.3 to 99 %"


def test_few_runs_stand_by_themselves_where_they_have_no_interval(page: Path) -> None:
    (row,) = rows(page, "out")
    assert row["runs whose times are known"] == "**not known of 1 of 3**, known of 2"
    assert row["longest silence: median"] == "0.290 s [0.290 s; 0.290 s]"


def test_broken_and_kept_promises_each_list_their_runs(page: Path) -> None:
    by_promise = {row["promise"]: row for row in rows(page, "promises")}
    broken = by_promise["**not judged in 1 run**: `confirmed-is-delivered`"]
    assert broken["broken in"] == "**1 of 2, 1 not judged**"
    assert broken["rate over all runs"] == "95 % CI: 1.3 to 99 %"


def test_a_pack_reports_which_command_made_its_runs(page: Path) -> None:
    (row,) = rows(page, "made")
    assert (row["pack"], row["runs"]) == ("`e.tar.xz`", "3")
    assert row["made by"] == "`mqproof run master-crash --seed 7`"


# --- packs ---------------------------------------------------------------------------------------


def test_packed_runs_are_rejudged_and_broken_promise_sets_exit_code(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = only(page).pack
    assert command("judge", pack, "--table", "loss") == 1
    out = capsys.readouterr().out
    assert out == "\n".join(["loss:", "", *TABLES["loss"]([judged(pack)]), "", ""])
    assert command("judge", pack) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line[:-1] for line in lines if line[:-1] in TABLES] == list(TABLES)


def test_an_existing_pack_is_not_written_again(page: Path, tmp_path: Path) -> None:
    pack = only(page).pack
    before = pack.stat().st_mtime_ns
    assert command("page", page, "--add", tmp_path / "e") == 0
    assert pack.stat().st_mtime_ns == before


def test_folder_of_experiments_is_added_whole_without_merged_reports(
    page: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "campaign"
    for name in ("g", "h"):
        recorded(stored(folder / name, [("a", CELL)]) / "runs" / "a", crash())
    remember_merged([folder / "g", folder / "h"], "", folder / "merged")
    assert command("page", page, "--add", folder) == 0
    assert [one.pack.name for one in published.read(page).evidence] == [
        "e.tar.xz",
        "g.tar.xz",
        "h.tar.xz",
    ]


def test_damaged_runs_are_not_added_and_the_page_stays(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = stored(tmp_path / "f", [("a", CELL)])
    (other / "runs" / "a").mkdir(parents=True)
    assert command("page", page, "--add", other) == 2
    assert "nothing was packed" in capsys.readouterr().err
    assert page.read_text() == PAGE


def test_all_unaddable_runs_are_reported_and_nothing_is_packed(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = stored(tmp_path / "f", [("a", CELL)])
    (tmp_path / "g").mkdir()
    words = ("--add", other, "--add", tmp_path / "none", "--add", tmp_path / "g")
    assert command("page", page, *words) == 254
    lines = capsys.readouterr().err.splitlines()[1:]
    assert [line.partition(": ")[0] for line in lines] == ["--add", "--add"]
    assert only(page).file == "runs/e.tar.xz"


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("runs/*/*.tar.xz", "are in several folders"),
        ("runs/2026*.tar.xz", "e.tar.xz is none of the runs of"),
    ],
)
def test_experiment_is_added_only_where_the_page_finds_it(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], pattern: str, wrong: str
) -> None:
    page.write_text(PAGE.replace("runs/*.tar.xz", pattern))
    assert command("page", page, "--add", tmp_path / "e") == 254
    assert wrong in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "e.marts.json.xz",
        "e.tar.xz",
    ]


def test_a_check_adds_nothing(page: Path, tmp_path: Path) -> None:
    other = stored(tmp_path / "f", [("a", CELL)])
    assert command("page", page, "--check", "--add", other) == 254


def test_no_pack_is_made_but_by_the_users_own_command(page: Path, tmp_path: Path) -> None:
    into = tmp_path / "again.tar.xz"
    assert cli.main(["pack", str(tmp_path / "e"), "-o", str(into)]) == 0
    pack = only(page).pack
    assert into.read_bytes() == pack.read_bytes()


def asking(*, fails: bool) -> History:
    """A crash that its publisher met while it asked rkt1 for the way; then it turned to rkt2."""
    history = crash()
    for at_ms, whom in ((1, "rkt1"), (FAULT_MS + 4_000, "rkt2")):
        history.client_event("attached", at_ms=at_ms, worker=PUBLISHER)
        history.rows["client_events"][-1]["detail"] = whom
    if fails:
        history.publish(90_000, at_ms=FAULT_MS + 10)
        history.settle(90_000, Outcome.UNKNOWN, at_ms=FAULT_MS + 3_010)
    return sampled(history, "rmq1", range(0, 12_000, 1_000), cores=0.5, memory_bytes=2**20 * 100)


@pytest.fixture
def page_of_sends(tmp_path: Path) -> Path:
    """Of two runs whose publisher asked name servers; of one a send failed."""
    experiment = stored(tmp_path / "e", [(name, CELL) for name in ("a", "b")])
    recorded(experiment / "runs" / "a", asking(fails=True))
    recorded(experiment / "runs" / "b", asking(fails=False))
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    assert command("page", path, "--add", experiment) == 0
    return path


def test_failed_sends_are_reported_by_name_server_and_others_counted(
    page_of_sends: Path,
) -> None:
    (row,) = rows(page_of_sends, "sends")
    assert (row["name server of publishers"], row["runs"]) == ("rkt1", "2")
    assert row["last failed after"] == "3.01 s; none failed in 1 of 2"
    assert row["switched name server after"] == "4.00 s [4.00 s; 4.00 s]"
    assert row["route without the master after"] == "never"


def test_price_covers_hosts_memory_work_and_cost_of_faults(
    page_of_sends: Path,
) -> None:
    (row,) = rows(page_of_sends, "price")
    assert (row["runs"], row["hosts"]) == ("2 judged", "1")
    assert row["memory of all hosts"] == "100 MiB"
    assert row["processor seconds a 1,000 messages"].endswith(" s")
    assert row["half of confirms within"] == "2.0 ms"
    assert row["out: median by fault"].startswith("`master-crash` ")


def test_a_cell_carries_its_median_rate_and_the_rate_of_each_of_few_runs(
    page_of_sends: Path,
) -> None:
    (row,) = rows(page_of_sends, "carried")
    assert row["runs whose rate is known"] == "2"
    median, _, each = row["confirmed a second: median"].partition(" ")
    assert float(median) > 0
    assert len(each.strip("[]").split("; ")) == 2
    assert (row["half of confirms within"], row["lost"]) == ("2.0 ms", "0")


def test_unreported_values_have_no_rows_and_unsampled_ones_no_price(page: Path) -> None:
    assert rows(page, "sends") == []
    (row,) = rows(page, "price")
    assert (row["hosts"], row["memory of all hosts"]) == ("-", "-")
