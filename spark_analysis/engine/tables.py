"""The only place that reads run folders.

1. Columns are read by name, and only those that a kernel needs; those of a large table on demand
   (columns.py).
2. A missing column, another type, or a null where none is allowed raises BadRecords: the verdict
   would be about other data. A missing file is an empty table, unless the manifest lists it.
3. A run that differs from its seal is rejected as a whole (files/sealed.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spark_analysis.engine.columns import Column, ColumnCache, records
from spark_analysis.engine.kernel.records import BadRecords, R, Text, without_canaries
from spark_analysis.files.regular import check_regular, json_of
from spark_analysis.files.sealed import MANIFEST, RAW, damages
from spark_analysis.schema import old_names
from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.declared import WRONG, Listing, Reader
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.sound import check, written_later
from spark_analysis.schema.tables import ATTEMPTS, DELIVERIES

_PROBLEMS_MAX = 20
FACTS_BYTES_MAX = 1 << 26  # of a whole manifest
LARGE = 1 << 20  # rows: one read a column costs nothing beside them


def read_facts(folder: Path) -> Facts:
    """Read the facts of a complete run: the key "facts" of its manifest."""
    path = folder / MANIFEST
    try:
        document = json_of(path, FACTS_BYTES_MAX)
        recorded = document["facts"]
        damaged = damages(folder, document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRecords(f"{path} holds no facts: {error!r}") from error
    if damaged:
        raise BadRecords("; ".join(damaged))
    found = Listing(_PROBLEMS_MAX)
    recorded = old_names.facts(recorded)
    facts = Reader(found).read(Facts, recorded, "facts")
    if facts is not WRONG:
        check(facts, found)
    if found.count:
        raise BadRecords(f"{path}: {found}{written_later(recorded)}")
    return cast(Facts, facts)


class RunFolder:
    """The raw tables of one run. `large`: rows from which a table is read by columns."""

    def __init__(self, folder: Path, large: int = LARGE) -> None:
        self._raw = folder / RAW
        self._large = large
        self._cache = ColumnCache()

    @property
    def size(self) -> int:
        """Return the rows of the two largest tables by their footers. An unreadable table counts 0
        here; reading it raises the error."""
        return sum(_rows(self._raw / f"{table.name}.parquet") for table in (ATTEMPTS, DELIVERIES))

    def read(self, kind: type[R]) -> R:
        name, names = kind.TABLE.name, [field.name for field in fields(kind)]
        schema = arrow_schema(kind.TABLE)
        path = self._raw / f"{name}.parquet"
        expected = pa.schema([schema.field(column) for column in names])
        if not path.exists():
            return kind(**_columns(expected.empty_table(), expected, path))
        with _opened(path, expected) as file:
            if file.metadata.num_rows < self._large:
                # Spark runs as many of us as there are cores; threads would only be in the way.
                found = file.read(columns=names, use_threads=False)
                return without_canaries(kind(**_columns(found, expected, path)))
        return without_canaries(records(kind, partial(_one, path, expected), self._cache))


def _rows(path: Path) -> int:
    try:
        check_regular(path)
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return 0


def _one(path: Path, expected: pa.Schema, name: str) -> Column:
    """A column; of numbers never more lies beside their array than a group of rows."""
    field = expected.field(name)
    words: dict[str, int] = {}
    is_text = pa.types.is_dictionary(field.type)
    kind = np.int32 if is_text else field.type.to_pandas_dtype()
    with _opened(path, expected) as file:
        column, place = np.empty(file.metadata.num_rows, kind), 0
        for group in range(file.num_row_groups):
            found = file.read_row_group(group, columns=[name], use_threads=False)[name]
            some = _column(found, field, path)
            column[place : place + len(found)] = _renumbered(some, words) if is_text else some
            place += len(found)
    return Text(tuple(words), column) if is_text else column


def _renumbered(text: Text, words: dict[str, int]) -> Any:
    """Return the numbers of the strings by `words`, which grows by new strings."""
    numbers = [words.setdefault(word, len(words)) for word in text.words]
    return np.array(numbers, np.int32)[text.numbers]


@contextmanager
def _opened(path: Path, expected: pa.Schema) -> Iterator[pq.ParquetFile]:
    texts = [field.name for field in expected if pa.types.is_dictionary(field.type)]
    try:
        check_regular(path)
        with pq.ParquetFile(path, read_dictionary=texts, memory_map=True) as file:
            _check(file.schema_arrow, expected, path)
            yield file
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
