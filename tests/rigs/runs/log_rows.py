"""The rows of a small log, for tests."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from spark_analysis.files.log import Value, read_records, read_strings
from spark_analysis.schema.tables import ColumnType, Table


def read_rows(folder: Path, table: Table) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of one table as dicts, text resolved."""
    # Records first: the writer hands strings over first, so all that these name are there.
    records = read_records(folder, table)
    strings = read_strings(folder)
    for values in table.record.iter_unpack(records):
        yield {
            column.name: (strings[value] if value >= 0 else None)
            if column.kind is ColumnType.TEXT
            else value
            for column, value in zip(table.columns, values, strict=True)
        }
