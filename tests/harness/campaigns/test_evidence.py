"""Pages whose raw packs are gone, and the packs that come back from elsewhere."""

import json
import lzma
import shutil
import subprocess
from copy import deepcopy
from dataclasses import fields
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness import cli
from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import judge_one
from harness.campaigns import evidence, run_marts
from harness.campaigns import pages as published
from harness.campaigns.evidence import Evidence, Pack
from harness.campaigns.packed import judged, marts_of, of_page
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome
from harness.plan.problems import PlanError
from tests.harness.campaigns.published import PUBLISHED
from tests.harness.campaigns.test_pages import PAGE, recorded
from tests.rigs.runs.judged_runs import crash, report_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.stored import stored


def command(*words: object) -> int:
    return cli.main(["campaign", *map(str, words)])


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A page of one experiment: a run that lost two messages, and one that never began."""
    experiment = stored(tmp_path / "e", [(name, CELL) for name in ("a", "never")])
    recorded(experiment / "runs" / "a", crash(lost=[30, 31]))
    path = tmp_path / "pages" / "page.md"
    path.parent.mkdir()
    path.write_text(PAGE)
    assert command("page", path, "--add", experiment) == 0
    return path


def only(page: Path) -> Evidence:
    (one,) = published.read(page).evidence
    return one


@pytest.fixture
def elsewhere(page: Path, tmp_path: Path) -> Path:
    """Where the pack is after it was removed from beside the page."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.move(only(page).pack, folder)
    return folder


def test_a_report_from_marts_is_that_from_raw_rows(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "e" / "runs" / "a"
    run = judge_one(folder)
    assert isinstance(run, JudgedRun)
    raw = report_of(run, shipped())
    found = of_page(only(page)).runs[0]
    assert found.verdicts
    names = [one.name for one in fields(raw) if one.name != "detail"]
    assert [getattr(found, name) for name in names] == [getattr(raw, name) for name in names]
    assert found.detail and raw.detail
    assert found.detail.timeline.faults == raw.detail.timeline.faults
    assert found.detail.timeline.routes == raw.detail.timeline.routes


def test_marts_hold_no_row_a_message(page: Path) -> None:
    body = run_marts.read(only(page).marts).runs[0].body
    assert body is not None
    assert "affected" not in body["marts"]
    assert body["marts"]["counts"]["count"]


def test_a_page_is_checked_without_its_packs(page: Path, elsewhere: Path) -> None:
    assert not only(page).pack.exists()
    assert command("page", page, "--check") == 0
    page.write_text(page.read_text().replace("**1 of 2", "**0 of 2").replace("| 2 |", "| 3 |"))
    assert command("page", page, "--check") == 1


def test_an_added_pack_is_listed_with_its_checksum(page: Path) -> None:
    one = only(page)
    assert one.listed == Pack(
        file="runs/e.tar.xz",
        size=one.pack.stat().st_size,
        sha256=evidence.sha256_of(one.pack),
        kept="until removed",
    )


def test_raw_packs_are_judged_again_from_a_folder(
    page: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("page", page, "--check", "--evidence", elsewhere) == 0
    assert "runs/e.tar.xz: marts are what its pack says (1 of 1)" in capsys.readouterr().out


def changed(page: Path) -> None:
    """Marts that say of no message that it was lost."""
    path = only(page).marts
    document = json.loads(lzma.decompress(path.read_bytes()))
    counts = document["runs"][0]["body"]["marts"]["counts"]
    counts["count"] = [0 for _ in counts["count"]]
    path.write_bytes(lzma.compress(json.dumps(document).encode()))


def test_marts_that_differ_from_the_pack_are_found_and_rewritten(
    page: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(page)
    assert command("page", page) == 0  # of the wrong marts
    assert command("page", page, "--check") == 0
    assert command("page", page, "--check", "--evidence", elsewhere) == 1
    assert "marts are NOT what its pack says" in capsys.readouterr().out
    assert command("page", page, "--evidence", elsewhere) == 0
    assert "are rewritten" in capsys.readouterr().out
    assert command("page", page, "--check", "--evidence", elsewhere) == 0


def test_marts_of_format_2_are_read_and_leave_open_what_they_do_not_count(
    page: Path, elsewhere: Path
) -> None:
    def outcomes() -> list[ClaimOutcome]:
        verdicts = {each.claim: each.outcome for each in of_page(only(page)).runs[0].verdicts}
        return [verdicts["confirmed-copy-is-kept"], verdicts["unacknowledged-is-redelivered"]]

    today = outcomes()
    assert today == [ClaimOutcome.NOT_APPLICABLE] * 2
    path = only(page).marts
    document = json.loads(lzma.decompress(path.read_bytes()))
    path.write_bytes(lzma.compress(json.dumps({**document, "version": 2}).encode()))
    assert ClaimOutcome.NOT_APPLICABLE not in outcomes()
    assert command("page", page, "--check", "--evidence", elsewhere) == 1
    assert command("page", page, "--evidence", elsewhere) == 0
    assert json.loads(lzma.decompress(path.read_bytes())) == document
    assert outcomes() == today


def test_rows_of_a_mart_have_no_order(page: Path, elsewhere: Path) -> None:
    path = only(page).marts
    document = json.loads(lzma.decompress(path.read_bytes()))
    seconds = document["runs"][0]["body"]["marts"]["seconds"]
    assert len(seconds["second"]) > 1
    for values in seconds.values():
        values.reverse()
    path.write_bytes(lzma.compress(json.dumps(document).encode()))
    assert command("page", page, "--check", "--evidence", elsewhere) == 0


def test_lost_marts_are_made_from_the_pack(page: Path, elsewhere: Path) -> None:
    only(page).marts.unlink()
    assert command("page", page, "--check") == 254
    assert command("page", page, "--evidence", elsewhere) == 0
    assert command("page", page, "--check") == 0


def test_a_pack_with_another_checksum_is_refused(
    page: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = elsewhere / "e.tar.xz"
    content = pack.read_bytes()
    pack.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert command("page", page, "--check", "--evidence", elsewhere) == 254
    assert "runs/e.tar.xz: has the SHA-256" in capsys.readouterr().err
    pack.write_bytes(content[:-1])
    assert command("page", page, "--check", "--evidence", elsewhere) == 254
    assert f"has {len(content) - 1:,} bytes" in capsys.readouterr().err


def test_a_source_without_the_pack_is_refused_with_its_places(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert command("page", page, "--check", "--evidence", tmp_path / "empty") == 254
    output = capsys.readouterr().err
    assert "empty/runs/e.tar.xz" in output
    assert "empty/e.tar.xz" in output


def test_packs_that_are_done_are_skipped_after_an_interrupt(
    page: Path, elsewhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("page", page, "--evidence", elsewhere, "--resume", tmp_path / "done.txt")
    assert command(*words) == 0
    assert (tmp_path / "done.txt").read_text() == "runs/e.tar.xz\n"
    (elsewhere / "e.tar.xz").unlink()
    capsys.readouterr()
    assert command(*words) == 0
    assert "e.tar.xz" not in capsys.readouterr().out


def test_a_failed_check_is_not_noted_as_done(page: Path, elsewhere: Path, tmp_path: Path) -> None:
    changed(page)
    words = ("--check", "--evidence", elsewhere, "--resume", tmp_path / "done.txt")
    assert command("page", page, *words) == 1
    assert command("page", page, *words) == 1


def test_resume_needs_evidence(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("page", page, "--resume", tmp_path / "done.txt") == 254
    assert "--resume: it needs --evidence" in capsys.readouterr().err


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
def test_a_pack_is_read_from_git_history(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = page.parent
    git(folder, "init", "--quiet")
    git(folder, "add", "-f", ".")
    git(folder, "commit", "--quiet", "-m", "with packs")
    git(folder, "tag", "with-packs")
    only(page).pack.unlink()
    assert command("page", page, "--check", "--evidence", "with-packs") == 0
    assert command("page", page, "--check", "--evidence", "no-such") == 254
    assert "git has no such file in no-such" in capsys.readouterr().err
    assert command("page", page, "--check", "--evidence=--help") == 254


def test_a_pack_is_downloaded_from_an_address(page: Path, elsewhere: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(elsewhere))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            assert command("page", page, "--check", "--evidence", address) == 0
            assert command("page", page, "--check", "--evidence", f"{address}/none") == 254
        finally:
            server.shutdown()
            thread.join()


def test_an_address_that_cannot_be_is_reported(
    page: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "http://localhost:abc/"
    assert elsewhere.is_dir(), "the pack is not beside its page"
    assert command("page", page, "--check", "--evidence", address) == 254
    assert "localhost:abc" in capsys.readouterr().err


def test_marts_of_another_version_are_refused_with_what_to_do(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = only(page).marts
    document = json.loads(lzma.decompress(path.read_bytes()))
    document["runs"][0]["body"]["marts"]["counts"]["unheard_of"] = [0]
    path.write_bytes(lzma.compress(json.dumps(document).encode()))
    assert command("page", page, "--check") == 254
    assert "mqproof campaign page PAGE --evidence SOURCE" in capsys.readouterr().err


def test_marts_without_a_later_column_stay_readable_and_the_same(page: Path) -> None:
    whole = run_marts.read(only(page).marts)
    older = deepcopy(whole)
    kept = older.runs[0].body
    assert kept is not None
    del kept["marts"]["starvation"]["silent_at_end_ns"]
    assert run_marts.same(older, whole)
    run, _ = run_marts.judged_from(kept, page)
    assert {row.silent_at_end_ns for row in run.findings.starvation} == {None}
    kept["marts"]["starvation"]["longest_ns"][0] += 1
    assert not run_marts.same(older, whole)


def test_unlisted_pack_of_a_user_is_judged_itself(page: Path) -> None:
    one = only(page)
    (page.parent / evidence.NAME).unlink()
    one.marts.unlink()
    assert command("page", page, "--check") == 0
    assert of_page(only(page)).runs == judged(one.pack).runs


def test_a_list_with_a_wrong_entry_is_refused(page: Path) -> None:
    path = page.parent / evidence.NAME
    path.write_text(path.read_text().replace('kept = "until removed"', 'kept = "for ever"'))
    with pytest.raises(PlanError, match=r"\[\[pack\]\] 1, kept: 'for ever' is not a valid"):
        evidence.listed(page.parent)


def kept_findings() -> list[object]:
    """Packs of findings, which lie in the repository; by day one that is judged in seconds."""
    found = [one for one in evidence.listed(PUBLISHED).values() if one.kept == "finding"]
    least = min(found, key=lambda one: one.size, default=None)
    return [
        pytest.param(one, id=one.file, marks=[] if one is least else pytest.mark.nightly)
        for one in found
    ]


@pytest.mark.parametrize("pack", kept_findings())
def test_marts_of_findings_are_what_their_raw_packs_say(pack: Pack) -> None:
    one = Evidence(PUBLISHED, pack.file, pack)
    assert run_marts.same(run_marts.read(one.marts), marts_of(one.pack))
