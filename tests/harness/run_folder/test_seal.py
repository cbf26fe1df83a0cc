"""Sealing: logs of any condition become Parquet; what the manifest lacks becomes a doubt."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from harness.judging.assemble import _notes
from harness.run_folder.manifest import (
    ClockRecord,
    WorkerRecord,
    facts_of,
)
from harness.run_folder.rows import RAW
from harness.run_folder.seal import HARNESS, LOGS, seal
from harness.run_folder.tolerances import DRIFT_NS_MAX
from spark_analysis.files.log import LogWriter, is_closed
from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.facts import Clock, Facts
from spark_analysis.schema.tables import (
    ATTEMPTS,
    CLIENT_EVENTS,
    SETTLEMENTS,
    TABLES,
    TERMS,
    ColumnType,
    Table,
)
from spark_analysis.schema.words import ProblemCause
from tests.rigs.machine.file_limit import child_with_small_files
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.manifests import manifest


def attempt(log: LogWriter, sequence: int, queue: str = "orders") -> None:
    log.append(ATTEMPTS, 1, sequence, 1, queue, 0, sequence * 10, sequence * 10 + 1, 1, 5, 256)


def test_strings_of_several_logs_become_one_dictionary(tmp_path: Path) -> None:
    manifest().save(tmp_path)
    for number, queues in ((1, ("orders", "bills")), (2, ("bills", "orders"))):
        with LogWriter(tmp_path / LOGS / f"publisher-{number}") as log:
            for sequence, queue in enumerate(queues):
                attempt(log, sequence, queue)
    seal(tmp_path)
    sealed = pq.read_table(tmp_path / RAW / "attempts.parquet")
    assert sealed["queue"].to_pylist() == ["orders", "bills", "bills", "orders"]


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_sealed_table_has_the_schema_derived_from_its_declaration(
    table: Table, tmp_path: Path
) -> None:
    manifest().save(tmp_path)
    with LogWriter(tmp_path / LOGS / "publisher-1") as log:
        row = ["text" if c.kind is ColumnType.TEXT else 1 for c in table.columns]
        log.append(table, *row)
    seal(tmp_path)
    sealed = pq.read_table(tmp_path / RAW / f"{table.name}.parquet")
    wanted = arrow_schema(table)
    assert sealed.schema.names == wanted.names
    assert [field.type for field in sealed.schema] == [field.type for field in wanted]


def test_torn_record_is_dropped_and_its_log_counts_as_open(tmp_path: Path) -> None:
    folder = tmp_path / LOGS / "publisher-1"
    manifest().save(tmp_path)
    log = LogWriter(folder)
    attempt(log, 1)
    attempt(log, 2)
    log.flush()
    path = folder / "attempts.log"
    os.truncate(path, path.stat().st_size - 3)
    sealed = seal(tmp_path)
    assert pq.read_table(tmp_path / RAW / "attempts.parquet")["sequence"].to_pylist() == [1]
    assert sealed.workers[0].log_closed is False


def test_sealing_twice_gives_the_same(tmp_path: Path) -> None:
    manifest().save(tmp_path)
    with LogWriter(tmp_path / LOGS / "publisher-1") as log:
        attempt(log, 1)
    first = seal(tmp_path).facts
    assert seal(tmp_path).facts == first


def test_harness_that_died_leaves_a_wholly_unknown_run(tmp_path: Path) -> None:
    dead = manifest()
    dead.phase, dead.load_started_ns = "windows", 0
    dead.save(tmp_path)
    LogWriter(tmp_path / LOGS / HARNESS).close()
    with LogWriter(tmp_path / LOGS / "publisher-1") as log:
        attempt(log, 700)
    sealed = seal(tmp_path)
    assert sealed.facts is not None
    assert sealed.facts["clock_problem"] == "the harness ended in phase 'windows'"
    assert sealed.facts["problem_cause"] == ProblemCause.DIED
    assert sealed.facts["load_ended_ns"] == 7001


def test_a_clock_in_doubt_makes_the_run_unknown() -> None:
    doubted = manifest()
    doubted.load_ended_ns = 10
    doubted.clocks = [ClockRecord("publisher-1", True, 0, 0, "publisher-1: its clock moved")]
    assert facts_of(doubted, 0).clock_problem == "publisher-1: its clock moved"


def test_time_due_in_two_hours_is_no_observed_instant(tmp_path: Path) -> None:
    dead = manifest()
    dead.phase, dead.load_started_ns = "windows", 0
    dead.save(tmp_path)
    LogWriter(tmp_path / LOGS / HARNESS).close()
    with LogWriter(tmp_path / LOGS / "publisher-1") as log:
        attempt(log, 700)
        log.append(TERMS, 1, 700, 1, 7_200_000_000_000, 0)
    sealed = seal(tmp_path)
    assert sealed.facts is not None
    assert sealed.facts["load_ended_ns"] == 7001


def test_remote_clock_error_may_exceed_its_offset_bound() -> None:
    spread = manifest()
    spread.load_ended_ns = 10
    spread.workers.append(WorkerRecord("consumer-1", 7, "consumer"))
    spread.clocks = [
        ClockRecord("publisher-1", True, 0, 0, ""),
        ClockRecord("consumer-1", False, -5, 400_000, ""),
        ClockRecord("stranger", False, 0, 1, ""),
    ]
    facts = facts_of(spread, 0)
    assert facts.clocks == (Clock(7, 400_000 + DRIFT_NS_MAX),)
    assert Facts.from_json(facts.to_json()) == facts


@pytest.mark.slow
def test_a_full_disk_stops_the_log_whole_and_for_good(tmp_path: Path) -> None:
    """In a process of its own, whose files may not grow beyond 64 KiB."""
    folder = tmp_path / "log"
    code = (
        "import sys; from pathlib import Path\n"
        "from spark_analysis.files.log import LogFull, LogWriter\n"
        "from spark_analysis.schema.tables import ATTEMPTS\n"
        f"log = LogWriter(Path({str(folder)!r}))\n"
        "sequence = 0\n"
        "try:\n"
        "    while True:\n"
        "        sequence += 1\n"
        "        log.append(ATTEMPTS, 1, sequence, 1, 'q', 0, 0, 0, 1, 5, 256)\n"
        "        if sequence % 100 == 0: log.flush()\n"
        "except LogFull as full:\n"
        f"    if str(full) != {f'{folder}: File too large'!r}: sys.exit(str(full))\n"
        "    try: log.flush()\n"
        "    except LogFull as again: sys.exit(42 if str(again) == str(full) else str(again))\n"
    )
    limit = child_with_small_files(65536)
    done = subprocess.run([sys.executable, "-c", code], cwd=Path.cwd(), check=False, **limit)
    assert done.returncode == 42
    rows = list(read_rows(folder, ATTEMPTS))
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) % 100 == 0
    assert not is_closed(folder)


def test_words_that_are_not_utf8_are_sealed_readable(tmp_path: Path) -> None:
    manifest().save(tmp_path)
    with LogWriter(tmp_path / LOGS / "publisher-1") as log:
        log.append(CLIENT_EVENTS, 1, 5, "lost", 1, None, "caf\udce9")
    seal(tmp_path)
    sealed = pq.read_table(tmp_path / RAW / "client_events.parquet")
    assert sealed["detail"].to_pylist() == ["caf\ufffd"]


def test_text_columns_keep_none_and_undecodable_words_apart(tmp_path: Path) -> None:
    with LogWriter(tmp_path / "log") as log:
        log.append(CLIENT_EVENTS, 1, 5, "lost", 1, None, "caf\udce9")
        log.append(SETTLEMENTS, 1, 1, 1, 9, 1, 1, "ack", 1)
    (row,) = read_rows(tmp_path / "log", CLIENT_EVENTS)
    assert (row["queue"], row["detail"]) == (None, "caf\udce9")


@pytest.mark.parametrize("closed", [True, False])
def test_a_harness_log_without_an_end_is_a_caveat(closed: bool, tmp_path: Path) -> None:
    manifest().save(tmp_path)
    with LogWriter(tmp_path / LOGS / "publisher-1") as worker:
        attempt(worker, 1)
    own = LogWriter(tmp_path / LOGS / HARNESS)
    own.flush()
    if closed:
        own.close()
    sealed = seal(tmp_path)
    assert sealed.harness_log_closed is closed
    caveats = [note for note in _notes(sealed) if note.startswith("caveat: the harness's log")]
    assert len(caveats) == (not closed)
