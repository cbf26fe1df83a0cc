"""Sealing: the logs of a run's workers become one Parquet file a raw table.

1. Sealing reads the whole records of closed logs, and of logs that a dead worker left.
2. It may be repeated, and by another process than the one that recorded; logs are never changed.
3. A raw file appears whole or not at all: Parquet's footer comes last, so it is renamed after it.
4. What was sealed is written down with its checksums, and those of the logs that it was made from.
   A log that has lost records is not sealed without them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.run_folder.client_events import record_claim_facts
from harness.run_folder.manifest import SEALED, Manifest, facts_of
from harness.run_folder.never_begun import never_begun
from spark_analysis.files import log as worker_log
from spark_analysis.files.log import LogDamaged, is_closed, read_records, read_strings
from spark_analysis.files.sealed import RAW, Resealed, Seal, TableSeal, sha256_of
from spark_analysis.files.writing import replacing
from spark_analysis.schema.tables import CLIENT_EVENTS, TABLES, ColumnType, Table

_NO_INSTANTS = ("cpu_ns", "due_ns")
LOGS = "logs"
HARNESS = "harness"  # the log of the harness itself
_DTYPES = {
    ColumnType.INT32: "<i4",
    ColumnType.INT64: "<i8",
    ColumnType.UINT8: "u1",
    ColumnType.TEXT: "<i4",
}


def seal(folder: Path, resealed: tuple[Resealed, ...] = ()) -> Manifest:
    """Seals the run in `folder` and completes its manifest with the facts.

    Raises FileNotFoundError or ValueError where there is no manifest, LogDamaged where a log is
    not one of ours or has lost records, OSError where the disk refuses; logs stay as they were.
    """
    manifest = Manifest.load(folder)
    logs = log_folders(folder)
    _check_logs(folder, manifest, logs)
    raw = folder / RAW
    raw.mkdir(exist_ok=True)
    if not logs and any(raw.glob("*.parquet")):
        raise LogDamaged(f"{folder / LOGS} is gone, and {raw} was never sealed")
    tables: dict[str, TableSeal | None] = {}
    last_ns = 0
    for table in TABLES.values():
        sealed = _table(table, logs)
        tables[table.name] = _kept(sealed, raw / f"{table.name}.parquet")
        last_ns = max(last_ns, _last_ns(sealed)) if sealed.num_rows else last_ns
    for worker in manifest.workers:
        worker.log_closed = is_closed(folder / LOGS / worker.name)
    own = folder / LOGS / HARNESS
    manifest.harness_log_closed = is_closed(own) or own not in logs
    manifest.move_never_begun(never_begun(manifest.windows, folder))
    record_claim_facts(manifest, raw / f"{CLIENT_EVENTS.name}.parquet")
    manifest.facts = facts_of(manifest, last_ns).to_json()
    manifest.seal = Seal(tables, _checksums(folder), resealed)
    if manifest.load_ended_ns is not None or manifest.interrupted:
        manifest.phase = SEALED
    manifest.save(folder)
    return manifest


def _check_logs(folder: Path, manifest: Manifest, logs: Sequence[Path]) -> None:
    """Raises LogDamaged where a log that the run had is not there, or not what was closed."""
    for log in logs:
        worker_log.check_closed(log, manifest.run)
    had_load = logs and manifest.load_started_ns is not None
    for name in (HARNESS, *(worker.name for worker in manifest.workers)) if had_load else ():
        if folder / LOGS / name not in logs:
            raise LogDamaged(f"{folder / LOGS / name} is gone")


def log_folders(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / LOGS).glob("*") if path.is_dir())


def log_files(folder: Path) -> list[Path]:
    """Every file of a run's logs that sealing reads."""
    return [path for log in log_folders(folder) for path in worker_log.files(log)]


def _checksums(folder: Path) -> Mapping[str, str]:
    return {str(path.relative_to(folder)): sha256_of(path) for path in log_files(folder)}


def _kept(sealed: pa.Table, path: Path) -> TableSeal | None:
    """The table in its file. What an earlier sealing left, of a table without rows, goes."""
    if not sealed.num_rows:
        path.unlink(missing_ok=True)
        return None
    _write(sealed, path)
    # Read again at once: it is still in memory, and it is the file that is to be kept.
    return TableSeal(sealed.num_rows, sha256_of(path))


def _table(table: Table, logs: Sequence[Path]) -> pa.Table:
    dtype = np.dtype([(column.name, _DTYPES[column.kind]) for column in table.columns])
    strings: dict[str, int] = {}
    parts = [
        _renumber(table, np.frombuffer(read_records(log, table), dtype), log, strings)
        for log in logs
    ]
    records = np.concatenate(parts) if parts else np.empty(0, dtype)
    dictionary = pa.array([_readable(text) for text in strings], pa.string())
    columns = {
        column.name: _column(records[column.name], column.kind, dictionary)
        for column in table.columns
    }
    return pa.table(columns)


def _renumber(table: Table, records: Any, log: Path, strings: dict[str, int]) -> Any:
    """The records with string numbers of the whole run instead of one log's own."""
    texts = [column.name for column in table.columns if column.kind is ColumnType.TEXT]
    if not texts or not len(records):
        return records
    own = read_strings(log)
    numbers = np.array([strings.setdefault(text, len(strings)) for text in own] + [-1], "<i4")
    renumbered = records.copy()
    for name in texts:
        if records[name].min() < -1 or records[name].max() >= len(own):
            raise LogDamaged(f"{log}: {table.name} names words that its strings have not")
        renumbered[name] = numbers[records[name]]  # -1, no text, is the last one: -1 again
    return renumbered


def _column(values: Any, kind: ColumnType, dictionary: pa.Array) -> pa.Array:
    if kind is not ColumnType.TEXT:
        return pa.array(np.ascontiguousarray(values))
    numbers = pa.array(np.ascontiguousarray(values), mask=values < 0)
    return pa.DictionaryArray.from_arrays(numbers, dictionary)


def _readable(text: str) -> str:
    """A broker may say anything, Arrow takes UTF-8 only."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _write(sealed: pa.Table, path: Path) -> None:
    with replacing(path) as partial:
        pq.write_table(sealed, partial, compression="zstd")


def _last_ns(sealed: pa.Table) -> int:
    names = [name for name in sealed.column_names if name.endswith("_ns")]
    # Neither is an instant that anybody saw: one is a length, the other was still to come.
    values = [np.max(sealed[name].to_numpy()) for name in names if name not in _NO_INSTANTS]
    return int(max(values, default=0))
