"""The only place that reads run folders.

1. Columns are read by name, and only those that a kernel asks for.
2. What is missing, of another type, or null where nothing may be null raises BadRecords: a file
   read as something else would be judged as something else. A missing file is an empty table,
   unless the manifest says that the run had one.
3. A run that is not what was sealed is bad as a whole, whoever had it judged (schema/sealed.py).
"""

import json
from collections.abc import Hashable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spark_analysis.engine.kernel.records import BadRecords, R, Text, without_canaries
from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.sealed import MANIFEST, RAW, damages


def read_facts(folder: Path) -> Facts:
    """What the harness knew of a run that is whole: the key "facts" of its manifest."""
    try:
        document = json.loads((folder / MANIFEST).read_text())
        facts = Facts.from_json(document["facts"])
        damaged = damages(folder, document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRecords(f"manifest.json holds no facts: {error!r}") from error
    if damaged:
        raise BadRecords("; ".join(damaged))
    if not _fits(facts, Facts):
        raise BadRecords("the facts in manifest.json are of other types")
    if sorted(window.number for window in facts.windows) != [*range(1, len(facts.windows) + 1)]:
        raise BadRecords("the windows in manifest.json are not numbered from 1")
    return facts


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The raw tables of one run."""

    folder: Path

    def read(self, kind: type[R]) -> R:
        name, names = kind.TABLE.name, [field.name for field in fields(kind)]
        schema = arrow_schema(kind.TABLE)
        path = self.folder / RAW / f"{name}.parquet"
        expected = pa.schema([schema.field(column) for column in names])
        found = _read(path, expected) if path.exists() else expected.empty_table()
        columns = {field.name: _column(found[field.name], field, path) for field in expected}
        return without_canaries(kind(**columns))


def _read(path: Path, expected: pa.Schema) -> pa.Table:
    texts = [field.name for field in expected if pa.types.is_dictionary(field.type)]
    try:
        with pq.ParquetFile(path, read_dictionary=texts, memory_map=True) as file:
            _check(file.schema_arrow, expected, path)
            # Spark runs as many of us as there are cores; threads would only get in their way.
            return file.read(columns=expected.names, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise BadRecords(f"{path.name} cannot be read: {error}") from error


def _check(found: pa.Schema, expected: pa.Schema, path: Path) -> None:
    for field in expected:
        place = found.get_field_index(field.name)
        if place < 0:
            raise BadRecords(f"{path.name} has no column {field.name}")
        if found.field(place).type != field.type:
            raise BadRecords(
                f"{path.name}: {field.name} is {found.field(place).type}, not {field.type}"
            )


def _column(column: pa.ChunkedArray, field: pa.Field, path: Path) -> Any:
    if column.null_count and not field.nullable:
        raise BadRecords(f"{path.name}: {field.name} has nulls")
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


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value from JSON is what its declaration says, all the way down."""
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(kind)[0]) for each in value)
    if isinstance(kind, UnionType):
        return any(_fits(value, choice) for choice in get_args(kind))
    if is_dataclass(kind):
        hints = _hints(cast(Hashable, kind))
        return isinstance(value, kind) and all(  # type: ignore[arg-type]
            _fits(getattr(value, name), hint) for name, hint in hints.items()
        )
    return type(value) is kind
