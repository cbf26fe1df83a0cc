"""Mart rows as Arrow tables."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.messages import Affected


def table(row: type, listing: Sequence[object]) -> pa.Table:
    """These rows of one mart."""
    schema = row_schema(row)
    arrays = [
        pa.array([getattr(each, field.name) for each in listing], field.type) for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def affected(run: str, listed: Sequence[Cases]) -> pa.Table:
    """One row a case."""
    schema = row_schema(Affected)
    tables = [
        pa.Table.from_arrays(
            [
                _repeated(run, len(cases.at_ns)),
                _strings(cases.census.queue),
                _repeated(cases.census.measure, len(cases.at_ns)),
                _strings(cases.census.detail),
                *(
                    pa.array(column.astype(np.int64, copy=False))
                    for column in (cases.producer, cases.sequence, cases.attempt, cases.at_ns)
                ),
            ],
            schema=schema,
        )
        for cases in listed
        if len(cases.at_ns)
    ]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _repeated(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), rows)


def _strings(text: Text) -> pa.Array:
    return pa.array(text.words, pa.string()).take(pa.array(text.numbers))
