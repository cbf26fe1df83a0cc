"""Mart rows as Arrow tables, and as the one row type in which a task hands all marts over."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.findings import Affected

BATCH_ROWS = 1 << 16


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


def union_batches(
    marts: Mapping[str, type], name: str, found: Sequence[pa.Table]
) -> Iterator[pa.RecordBatch]:
    """The rows of one mart as rows of the union."""
    types = {mart: pa.struct(row_schema(row)) for mart, row in marts.items()}
    if not found:
        return
    whole = pa.concat_tables(found).combine_chunks()
    for batch in whole.to_batches(max_chunksize=BATCH_ROWS):
        columns = [
            batch.to_struct_array() if mart == name else pa.nulls(len(batch), kind)
            for mart, kind in types.items()
        ]
        yield pa.RecordBatch.from_arrays(
            [_repeated(name, len(batch)), *columns], names=["mart", *types]
        )


def _repeated(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), rows)


def _strings(text: Text) -> pa.Array:
    return pa.array(text.words, pa.string()).take(pa.array(text.numbers))
