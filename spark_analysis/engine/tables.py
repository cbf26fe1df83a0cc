"""The only place that reads run folders.

1. Columns are read by name, and only those that a kernel asks for.
2. What is missing, of another type, or null where nothing may be null raises BadRecords: a file
   read as something else would be judged as something else. A missing file is an empty table,
   unless the manifest says that the run had one.
3. A run that is not what was sealed is bad as a whole, whoever had it judged (schema/sealed.py).
"""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spark_analysis.engine.kernel.records import BadRecords, R, Text, without_canaries
from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.declared import WRONG, Listing, Reader
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.sealed import MANIFEST, RAW, damages
from spark_analysis.schema.sound import check
from spark_analysis.schema.tables import ATTEMPTS, DELIVERIES

_TOLD_MAX = 20
_LARGE = 1 << 20  # rows: one read a column costs nothing beside them


def read_facts(folder: Path) -> Facts:
    """What the harness knew of a run that is whole: the key "facts" of its manifest."""
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_text())
        told = document["facts"]
        damaged = damages(folder, document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRecords(f"{path} holds no facts: {error!r}") from error
    if damaged:
        raise BadRecords("; ".join(damaged))
    found = Listing(_TOLD_MAX)
    facts = Reader(found).read(Facts, told, "facts")
    if facts is not WRONG:
        check(facts, found)
    if found.count:
        raise BadRecords(f"{path}: {found}")
    return cast(Facts, facts)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The raw tables of one run."""

    folder: Path

    @property
    def size(self) -> int:
        """Rows of its two largest tables, as their footers say; of one that cannot be read none:
        whoever reads it will say so."""
        paths = (self.folder / RAW / f"{table.name}.parquet" for table in (ATTEMPTS, DELIVERIES))
        return sum(_rows(path) for path in paths)

    def read(self, kind: type[R]) -> R:
        name, names = kind.TABLE.name, [field.name for field in fields(kind)]
        schema = arrow_schema(kind.TABLE)
        path = self.folder / RAW / f"{name}.parquet"
        expected = pa.schema([schema.field(column) for column in names])
        if not path.exists():
            return kind(**_columns(expected.empty_table(), expected, path))
        return without_canaries(kind(**_read(path, expected)))


def _rows(path: Path) -> int:
    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return 0


def _read(path: Path, expected: pa.Schema) -> dict[str, Any]:
    texts = [field.name for field in expected if pa.types.is_dictionary(field.type)]
    try:
        with pq.ParquetFile(path, read_dictionary=texts, memory_map=True) as file:
            _check(file.schema_arrow, expected, path)
            # A large table never lies beside the arrays that are made of it: by columns.
            large = file.metadata.num_rows >= _LARGE
            parts = [pa.schema([field]) for field in expected] if large else [expected]
            columns: dict[str, Any] = {}
            for part in parts:
                # Spark runs as many of us as there are cores; threads would only get in their way.
                found = file.read(columns=part.names, use_threads=False)
                columns |= _columns(found, part, path)
            return columns
    except (OSError, pa.ArrowException) as error:
        raise BadRecords(f"{path} cannot be read: {error}") from error


def _check(found: pa.Schema, expected: pa.Schema, path: Path) -> None:
    for field in expected:
        place = found.get_field_index(field.name)
        if place < 0:
            raise BadRecords(f"{path} has no column {field.name}")
        if found.field(place).type != field.type:
            raise BadRecords(
                f"{path}: {field.name} is {found.field(place).type}, not {field.type}"
            )


def _columns(found: pa.Table, expected: pa.Schema, path: Path) -> dict[str, Any]:
    return {field.name: _column(found[field.name], field, path) for field in expected}


def _column(column: pa.ChunkedArray, field: pa.Field, path: Path) -> Any:
    if column.null_count and not field.nullable:
        raise BadRecords(f"{path}: {field.name} has nulls")
    if not pa.types.is_dictionary(field.type):
        return column.to_numpy()
    return _text(column.unify_dictionaries().combine_chunks())


def _text(column: pa.DictionaryArray) -> Text:
    """No text becomes the word "", and every word gets one number."""
    words = ["" if word is None else word for word in column.dictionary.to_pylist()]
    distinct = list(dict.fromkeys([*words, ""]))
    numbers = column.indices.fill_null(len(words)).to_numpy()
    # The place after the words is for no text at all.
    renumbered = np.array([distinct.index(word) for word in [*words, ""]], np.int32)
    return Text(tuple(distinct), renumbered[numbers])
