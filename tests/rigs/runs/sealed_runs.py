"""Runs as they are recorded and sealed: logs of workers, a manifest, raw tables with checksums."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from harness.run_folder.manifest import NAME
from harness.run_folder.seal import HARNESS, LOGS, seal
from spark_analysis.files.log import LogWriter
from spark_analysis.files.sealed import DIGEST, SEAL
from spark_analysis.schema.tables import OPERATIONS, TABLES, TERMS, ColumnType
from tests.rigs.histories.by_hand import History, Row
from tests.rigs.runs.judged_runs import manifest_of
from tests.rigs.runs.reports import CELL

ABSENT = TERMS.name  # what no run here has rows of
PRESENT = tuple(name for name in TABLES if name != ABSENT)
_WRITERS = {
    "attempts": "publisher-1",
    "settlements": "publisher-1",
    "deliveries": "consumer-1",
    "acknowledgements": "consumer-1",
}


def recorded(folder: Path, messages: int = 20, *, every_table: bool = False) -> Path:
    """A calm run that was recorded and never sealed."""
    history = History(run=folder.name).flow(range(messages), from_ms=0, every_ms=10)
    rows: dict[str, list[Row]] = dict(history.rows)
    if every_table:
        for name in set(PRESENT) - set(rows):
            rows[name] = [_row(name, number) for number in range(messages)]
    names = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    facts = replace(history.facts, **names)
    manifest = manifest_of(
        facts,
        schedule={},
        load_started_ns=facts.load_started_ns,
        load_ended_ns=facts.load_ended_ns,
        queues=list(facts.queues),
    )
    folder.mkdir(parents=True)
    manifest.save(folder)
    write_logs(folder, rows)
    return folder


def sealed(folder: Path, messages: int = 20, *, every_table: bool = False) -> Path:
    seal(recorded(folder, messages, every_table=every_table))
    return folder


def forget_seal(folder: Path) -> None:
    """As a run was left behind that was sealed before there were checksums."""
    path = folder / NAME
    document = json.loads(path.read_text())
    path.write_text(
        json.dumps({key: document[key] for key in document if key not in (DIGEST, SEAL)})
    )


def write_logs(folder: Path, rows: Mapping[str, Iterable[Row]]) -> None:
    """Every table in the log of a worker who might have recorded it; all of them are closed."""
    logs, run = folder / LOGS, folder.name
    writers = {
        name: LogWriter(logs / name, run) for name in (HARNESS, "publisher-1", "consumer-1")
    }
    for name, listing in rows.items():
        log = writers[_WRITERS.get(name, HARNESS)]
        for row in listing:
            log.append(TABLES[name], *(row[column] for column in TABLES[name].names))
    for log in writers.values():
        log.close()


def _row(name: str, number: int) -> Row:
    kinds = {column.name: column.kind for column in TABLES[name].columns}
    row: Row = {
        column: f"word {number}" if kind is ColumnType.TEXT else number % 200
        for column, kind in kinds.items()
    }
    return {**row, "kind": "start"} if name == OPERATIONS.name else row
