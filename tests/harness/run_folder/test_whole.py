"""Damage of every kind to every table of a sealed run: all is reported, none gives a verdict."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.run_folder.manifest import BYTES_MAX, NAME, Manifest
from harness.run_folder.seal import LOGS
from harness.run_folder.whole import NotWhole, whole
from spark_analysis.engine.judge import judge_folder
from spark_analysis.files.sealed import RAW, digest_of
from tests.rigs.runs.sealed_runs import ABSENT, PRESENT, forget_seal, recorded, sealed

AT = "2026-11-23T12:00:00+00:00"
Spoil = Callable[[Path], object]


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that were sealed well, to be copied."""
    place = tmp_path_factory.mktemp("stock") / "runs"
    sealed(place / "one", 20, every_table=True)
    sealed(place / "other", 25, every_table=True)
    return place


@pytest.fixture
def runs(stock: Path, tmp_path: Path) -> Path:
    shutil.copytree(stock, tmp_path / "e" / "runs")
    return tmp_path / "e" / "runs"


def test_a_run_that_is_whole_is_judged(runs: Path) -> None:
    for name in ("one", "other"):
        assert whole(runs / name) == Manifest.load(runs / name)
        assert _unjudged(runs / name) is False


def drop_rows(path: Path) -> None:
    pq.write_table(pq.read_table(path).slice(3), path)


def repeat_rows(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table]), path)


def turn_rows_round(path: Path) -> None:
    """As many rows as there were, each where it was not."""
    table = pq.read_table(path)
    pq.write_table(table.take(list(reversed(range(len(table))))), path)


def put_a_folder_there(path: Path) -> None:
    path.unlink()
    path.mkdir()


def swap_with_the_other_run(path: Path) -> None:
    other = path.parents[2] / "other" / RAW / path.name
    kept = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(kept)


SPOILT: dict[str, tuple[Spoil, str]] = {
    "rows deleted": (drop_rows, "has 17 rows; 20 were sealed"),
    "rows added": (repeat_rows, "has 40 rows; 20 were sealed"),
    "rows in another order": (turn_rows_round, "is not what was sealed"),
    "deleted": (Path.unlink, "is gone"),
    "truncated": (lambda path: os.truncate(path, path.stat().st_size - 9), "cannot be read"),
    "emptied": (lambda path: os.truncate(path, 0), "cannot be read"),
    "a folder": (put_a_folder_there, "cannot be read: Is a directory"),
    "another run's": (swap_with_the_other_run, "has 25 rows; 20 were sealed"),
}


@pytest.mark.parametrize("table", PRESENT)
@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_table_leaves_the_whole_run_unjudged(kind: str, table: str, runs: Path) -> None:
    spoil, words = SPOILT[kind]
    path = runs / "one" / RAW / f"{table}.parquet"
    spoil(path)
    reason = _reason(runs / "one")
    assert reason.startswith(f"damaged: {path} {words}")
    assert ".." not in reason
    assert f"mqproof analyse {runs.parent} --reseal" in reason
    assert _unjudged(runs / "one")
    other = runs / "other"
    if kind == "another run's":
        assert f"{other / RAW / path.name} has 20 rows; 25 were sealed" in _reason(other)
    else:
        assert whole(other)


@pytest.mark.parametrize("name", [f"{ABSENT}.parquet", "more.parquet", "attempts.csv"])
def test_a_file_that_was_not_sealed_is_noticed(name: str, runs: Path) -> None:
    path = runs / "one" / RAW / name
    shutil.copy(runs / "one" / RAW / "attempts.parquet", path)
    assert f"{path} was not there when the run was sealed" in _reason(runs / "one")
    assert _unjudged(runs / "one")


@pytest.mark.parametrize("remains", [True, False], ids=["raw/ is empty", "raw/ is gone"])
def test_a_run_without_its_tables_is_damaged(remains: bool, runs: Path) -> None:
    shutil.rmtree(runs / "one" / RAW)
    if remains:
        (runs / "one" / RAW).mkdir()
    assert f"and {len(PRESENT) - 3} more" in _reason(runs / "one")
    assert _unjudged(runs / "one")


def change_a_fact(document: dict[str, Any]) -> None:
    document["facts"]["deadline_ns"] += 1


def change_a_state(document: dict[str, Any]) -> None:
    document["state"]["copies"] = 9


def raise_doubt_no_more(document: dict[str, Any]) -> None:
    document["workers"][0]["log_closed"] = not document["workers"][0]["log_closed"]


def edit_a_checksum(document: dict[str, Any]) -> None:
    document["seal"]["tables"]["attempts"]["sha256"] = "0" * 64


def edit_a_row_count(document: dict[str, Any]) -> None:
    document["seal"]["tables"]["attempts"]["rows"] -= 1


def call_a_table_absent(document: dict[str, Any]) -> None:
    document["seal"]["tables"]["lateness"] = None


def drop_the_seal(document: dict[str, Any]) -> None:
    del document["seal"]


def drop_the_digest(document: dict[str, Any]) -> None:
    del document["digest"]


EDITED = (
    change_a_fact,
    change_a_state,
    raise_doubt_no_more,
    edit_a_checksum,
    edit_a_row_count,
    call_a_table_absent,
    drop_the_seal,
    drop_the_digest,
)


@pytest.mark.parametrize("edit", EDITED)
def test_edited_manifest_is_noticed_and_logs_cannot_repair_it(
    edit: Callable[[dict[str, Any]], None], runs: Path
) -> None:
    path = _edit(runs / "one", edit)
    for at in ("", AT):
        assert _reason(runs / "one", at) == (
            f"{path} is not as it was written: its digest is another"
        )
    assert _unjudged(runs / "one")


@pytest.mark.parametrize("edit", [edit_a_row_count, edit_a_checksum, call_a_table_absent])
def test_seal_that_contradicts_its_tables_fails_despite_its_digest(
    edit: Callable[[dict[str, Any]], None], runs: Path
) -> None:
    def edit_both(document: dict[str, Any]) -> None:
        edit(document)
        document["digest"] = digest_of(document)

    _edit(runs / "one", edit_both)
    assert _reason(runs / "one").startswith("damaged: ")
    assert _unjudged(runs / "one")


def test_complete_run_in_a_wrong_place_is_refused(runs: Path) -> None:
    shutil.rmtree(runs / "one")
    (runs / "other").rename(runs / "one")
    assert _reason(runs / "one") == f"{runs / 'one' / NAME} is that of another run, other"


@given(picks=st.data())
def test_every_changed_byte_of_a_table_or_manifest_is_noticed(
    stock: Path, picks: st.DataObject
) -> None:
    folder = stock / "one"
    paths = [folder / NAME, *sorted((folder / RAW).iterdir())]
    path = picks.draw(st.sampled_from(paths), "file")
    kept = path.read_bytes()
    place = picks.draw(st.integers(0, len(kept) - 1), "byte")
    mask = picks.draw(st.integers(1, 255), "bits")
    spoilt = bytearray(kept)
    spoilt[place] ^= mask
    if path.name == NAME and _same_document(spoilt, kept):
        return  # white space is no fact
    try:
        path.write_bytes(spoilt)
        _reason(folder)
    finally:
        path.write_bytes(kept)


def test_runs_older_than_checksums_are_judged_as_they_are(runs: Path) -> None:
    forget_seal(runs / "one")
    (runs / "one" / RAW / "lateness.parquet").unlink()
    assert whole(runs / "one").seal is None
    assert _unjudged(runs / "one") is False
    shutil.rmtree(runs / "one" / RAW)
    (runs / "one" / RAW).mkdir()
    assert _reason(runs / "one") == (
        f"damaged: {runs / 'one' / RAW} has no table, though the run had load"
    )


@pytest.mark.parametrize("kind", [kind for kind in SPOILT if kind != "a folder"])
def test_a_damaged_run_is_rebuilt_from_its_logs_on_request(kind: str, runs: Path) -> None:
    folder, spoil = runs / "one", SPOILT[kind][0]
    before = Manifest.load(folder)
    spoil(folder / RAW / "settlements.parquet")
    because = _reason(folder).removeprefix("damaged: ").partition(". The logs")[0]
    whole(folder, AT)
    made = whole(folder)
    assert made.facts == before.facts
    assert made.seal is not None and before.seal is not None
    assert made.seal.tables == before.seal.tables
    assert [(one.at, one.because) for one in made.seal.resealed] == [(AT, because)]
    assert whole(folder, "later") == made, "a complete run is not sealed again"


def test_resealing_accepts_an_added_table_but_no_foreign_file(runs: Path) -> None:
    folder = runs / "one"
    shutil.copy(folder / RAW / "attempts.parquet", folder / RAW / f"{ABSENT}.parquet")
    assert whole(folder, AT)
    (folder / RAW / "notes.txt").write_text("mine")
    assert _reason(folder, AT).startswith("sealed again, and still damaged: ")
    assert (folder / RAW / "notes.txt").read_text() == "mine"


def shorten_a_log(folder: Path) -> str:
    path = folder / LOGS / "publisher-1" / "settlements.log"
    os.truncate(path, path.stat().st_size - 400)
    return f"{path} is not what was sealed: its checksum is another"


def lose_a_log(folder: Path) -> str:
    path = folder / LOGS / "publisher-1" / "closed.json"
    path.unlink()
    return f"{path} is gone"


def add_a_log(folder: Path) -> str:
    path = folder / LOGS / "publisher-2" / "attempts.log"
    shutil.copytree(folder / LOGS / "publisher-1", path.parent)
    return f"{path} was not there when the run was sealed"


@pytest.mark.parametrize("spoil", [shorten_a_log, lose_a_log, add_a_log])
def test_changed_logs_rebuild_no_tables(spoil: Callable[[Path], str], runs: Path) -> None:
    folder = runs / "one"
    message = spoil(folder)
    assert whole(folder), "the tables are the evidence; their logs may go"
    (folder / RAW / "settlements.parquet").unlink()
    for at in ("", AT):
        reason = _reason(folder, at)
        assert f"Its tables cannot be rebuilt: {message}" in reason
        assert "--reseal" not in reason


def test_logs_that_went_are_no_damage_and_mend_none(runs: Path) -> None:
    folder = runs / "one"
    shutil.rmtree(folder / LOGS)
    assert whole(folder)
    (folder / RAW / "settlements.parquet").unlink()
    assert "Its tables cannot be rebuilt" in _reason(folder, AT)


# Sealing itself: each error is reported with its cause and path.


def test_closed_log_with_too_few_records_is_damaged(
    tmp_path: Path,
) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    path = folder / LOGS / "publisher-1" / "settlements.log"
    os.truncate(path, path.stat().st_size - 1)
    assert f"{path} has 19 whole records and a torn one; its worker closed it with 20" in (
        _reason(folder)
    )
    path.unlink()
    assert f"{path} has 0 whole records; its worker closed it with 20" in _reason(folder)


@pytest.mark.parametrize("text", ["", "[]", '{"records": {"attempts": "many"}}'])
def test_a_closing_mark_that_says_nothing_is_damage(text: str, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    path = folder / LOGS / "publisher-1" / "closed.json"
    path.write_text(text)
    assert f"{path} does not say how many records there are" in _reason(folder)


@pytest.mark.parametrize("bytes_lost", [1, 5, 10])
def test_log_that_lost_text_is_damaged_even_by_one_word(bytes_lost: int, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    path = folder / LOGS / "publisher-1" / "strings.log"
    os.truncate(path, path.stat().st_size - bytes_lost)
    assert f"{path} is not what its worker closed" in _reason(folder)
    forget_checksums(path.with_name("closed.json"))
    assert f"{path.parent}: " in _reason(folder)
    assert "names words that its strings have not" in _reason(folder)


@pytest.mark.parametrize("file", ["settlements.log", "strings.log"])
def test_no_changed_byte_of_a_closed_log_is_sealed(file: str, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    path = folder / LOGS / "publisher-1" / file
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    assert f"{path} is not what its worker closed" in _reason(folder)


def test_a_log_of_another_run_is_not_sealed(tmp_path: Path) -> None:
    folder, other = (recorded(tmp_path / "runs" / name) for name in ("one", "other"))
    own = folder / LOGS / "consumer-1"
    shutil.rmtree(own)
    shutil.copytree(other / LOGS / "consumer-1", own)
    assert f"{own} is a log of another run, other" in _reason(folder)


@pytest.mark.parametrize("worker", ["publisher-1", "consumer-1", "harness"])
def test_run_with_load_is_not_sealed_without_all_logs(worker: str, tmp_path: Path) -> None:
    """A drainer's may hold what would else be a loss."""
    folder = recorded(tmp_path / "runs" / "one")
    shutil.rmtree(folder / LOGS / worker)
    assert f"{folder / LOGS / worker} is gone" in _reason(folder)


def test_log_older_than_checksums_is_sealed_as_it_is(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    for log in (folder / LOGS).iterdir():
        forget_checksums(log / "closed.json")
    assert whole(folder).seal is not None


def test_full_disk_is_reported_with_the_file_and_leaves_none(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    refused = folder / RAW / "attempts.parquet"
    refused.parent.mkdir()
    refused.with_name(f"{refused.name}.partial").symlink_to("/dev/full")
    assert _reason(folder) == f"{refused}: No space left on device"
    assert not list((folder / RAW).iterdir())
    assert whole(folder), "with room again it is sealed"


def test_a_full_disk_under_the_manifest_leaves_the_one_before(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    (folder / f"{NAME}.partial").symlink_to("/dev/full")
    assert _reason(folder) == f"{folder / NAME}: No space left on device"
    assert whole(folder)


def test_a_folder_that_cannot_be_sealed_into_is_reported(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    (folder / RAW).write_text("in the way")
    assert _reason(folder) == f"{folder / RAW}: File exists"


def test_unsealed_run_without_logs_is_damaged(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "runs" / "one")
    shutil.rmtree(folder / LOGS)
    assert _reason(folder) == f"damaged: {folder / LOGS} has no log, though the run had load"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', "\udce9"])
def test_a_broken_manifest_is_reported_with_its_path(text: str, runs: Path) -> None:
    path = runs / "one" / NAME
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert str(path) in _reason(runs / "one")
    path.unlink()
    assert _reason(runs / "one") == f"{path} is gone"


def _reason(folder: Path, at: str = "") -> str:
    with pytest.raises(NotWhole) as said:
        whole(folder, at)
    return str(said.value)


def forget_checksums(mark: Path) -> None:
    document = json.loads(mark.read_text())
    mark.write_text(json.dumps({key: document[key] for key in ("format", "records")}))


def _unjudged(folder: Path) -> bool:
    """Whether the engine, asked directly, says of the whole run that it cannot be judged."""
    found = dict(judge_folder(folder))
    reasons = [row["reason"] for row in found["doubts"].to_pylist() if row["scope"] == "run"]
    assert not reasons or set(found) == {"doubts", "failed"}
    return bool(reasons)


def _edit(folder: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    path = folder / NAME
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    return path


def _same_document(spoilt: bytes, kept: bytes) -> bool:
    try:
        return bool(json.loads(spoilt) == json.loads(kept))
    except ValueError:
        return False


def test_too_long_or_deep_manifest_is_refused_without_loading_it(runs: Path) -> None:
    path = runs / "one" / NAME
    path.write_text("[" * 100_000)
    with pytest.raises(NotWhole, match="nested too deeply"):
        whole(runs / "one")
    with path.open("wb") as file:
        file.truncate(BYTES_MAX + 1)
    with pytest.raises(NotWhole, match="a manifest has 67,108,864 at most"):
        whole(runs / "one")
