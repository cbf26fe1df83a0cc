"""The Arrow and Spark shapes of raw tables and mart rows, derived from their declarations.

1. A text column of a raw table is a dictionary of strings and may be null; nothing else may.
2. A mart's columns are the fields of its dataclass, in order; only `X | None` may be null.
"""

from dataclasses import fields
from functools import cache
from types import NoneType
from typing import get_args, get_type_hints

import pyarrow as pa

from spark_analysis.schema.tables import ColumnType, Table

_RAW = {
    ColumnType.INT32: pa.int32(),
    ColumnType.INT64: pa.int64(),
    ColumnType.UINT8: pa.uint8(),
    ColumnType.TEXT: pa.dictionary(pa.int32(), pa.string()),
}
_MART = {int: pa.int64(), str: pa.string(), bool: pa.bool_(), float: pa.float64()}


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """The columns of `<run folder>/raw/<table>.parquet`."""
    return pa.schema(
        pa.field(column.name, _RAW[column.kind], nullable=column.kind is ColumnType.TEXT)
        for column in table.columns
    )


@cache
def row_schema(row: type) -> pa.Schema:
    """The columns of a mart whose rows are the dataclass `row`."""
    hints = get_type_hints(row)
    return pa.schema(_field(field.name, hints[field.name]) for field in fields(row))


def _field(name: str, hint: type) -> pa.Field:
    choices = get_args(hint) or (hint,)
    (kind,) = (choice for choice in choices if choice is not NoneType)
    return pa.field(name, _MART[kind], nullable=NoneType in choices)
