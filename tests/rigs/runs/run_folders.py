"""Run folders written from facts and rows, as sealing a real run leaves them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import TABLES
from tests.rigs.generated.histories import Row, Rows
from tests.rigs.runs.log_rows import read_rows


def write_run(folder: Path, facts: Facts, rows: Rows) -> Path:
    """`manifest.json` and one Parquet file a table that has rows."""
    (folder / "raw").mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"facts": facts.to_json()}))
    for name, listing in rows.items():
        if listing:
            write_table(folder, name, raw_table(name, listing))
    return folder


def raw_table(name: str, listing: list[Row]) -> pa.Table:
    schema = arrow_schema(TABLES[name])
    return pa.Table.from_pylist(listing, schema=schema)


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    pq.write_table(table, folder / "raw" / f"{name}.parquet", compression="zstd")


def rows_of(folder: Path) -> dict[str, list[dict[str, int | str | None]]]:
    """Every raw table of a run as the oracle reads it, straight from the logs."""
    logs = sorted((folder / "logs").iterdir())
    return {
        name: [dict(row) for log in logs for row in read_rows(log, table)]
        for name, table in TABLES.items()
    }
