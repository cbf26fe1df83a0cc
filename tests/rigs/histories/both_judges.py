"""Both judges of a history without Spark and without files, and their answers in one form.

1. An answer is the rows of each mart, in no order.
2. Raw columns are kept as they come, canaries included: to drop them is the kernels' work.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from spark_analysis.engine.judge import judge as judge_by_kernels
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    Attempts,
    BadRecords,
    ClientEvents,
    Deliveries,
    Faults,
    Lateness,
    Probes,
    R,
    Records,
    Resources,
    Settlements,
    Terms,
    Text,
    without_canaries,
)
from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.costs import COSTS, Costs
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.sends import SENDS, Sends
from spark_analysis.schema.views import VIEWS, Views
from tests.oracle.costs import costs
from tests.oracle.judge import judge
from tests.oracle.sends import sends
from tests.oracle.views import views

KINDS = (
    Attempts,
    Settlements,
    Terms,
    Deliveries,
    Acknowledgements,
    ClientEvents,
    Faults,
    Lateness,
    Probes,
    Resources,
)

Row = Mapping[str, Any]
Rows = Mapping[str, Iterable[Row]]
Columns = dict[str, dict[str, Any]]  # by table and column; a text is (words, number of each row's)
Answer = dict[str, Counter[tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class Memory:
    """Reads raw columns that were made once."""

    columns: Columns

    def read(self, kind: type[R]) -> R:
        kept = self.columns[kind.TABLE.name]
        values = {field.name: kept[field.name] for field in fields(kind)}
        texts = {name: Text(*each) for name, each in values.items() if isinstance(each, tuple)}
        return without_canaries(kind(**{**values, **texts}))


def judged_by_both(facts: Facts, rows: Rows) -> Findings:
    """What the oracle says; the kernels must say the same of what they do not refuse."""
    findings = judge(facts, rows)
    try:
        answer = by_kernels(facts, raw_columns(rows))
    except BadRecords:
        # The oracle takes what no worker writes, such as a settlement without its attempt.
        return findings
    assert answer == listed(findings)
    return findings


def costs_by_both(facts: Facts, rows: Rows) -> Costs:
    """What a run cost by the oracle; the kernels must say the same."""
    tables = costs(facts, rows)
    _same_tables(tables, COSTS, facts, rows)
    return tables


def views_by_both(facts: Facts, rows: Rows) -> Views:
    """What name servers showed by the oracle; the kernels must say the same."""
    tables = views(facts, rows)
    _same_tables(tables, VIEWS, facts, rows)
    return tables


def sends_by_both(facts: Facts, rows: Rows) -> Sends:
    """Whose sends failed by the oracle; the kernels must say the same."""
    tables = sends(facts, rows)
    _same_tables(tables, SENDS, facts, rows)
    return tables


def _same_tables(
    tables: Costs | Sends | Views, names: Iterable[str], facts: Facts, rows: Rows
) -> None:
    found = judge_by_kernels(facts, Memory(raw_columns(rows)))
    for name in names:
        kept = Counter(tuple(row.values()) for row in found[name].to_pylist())
        assert kept == Counter(_values(getattr(tables, name))), name


def by_kernels(facts: Facts, columns: Columns) -> Answer:
    marts = judge_by_kernels(facts, Memory(columns))
    return {
        name: Counter(tuple(row.values()) for row in marts[name].to_pylist()) for name in MARTS
    }


def rows_of_marts(rows: Iterable[Any]) -> Counter[tuple[object, ...]]:
    return Counter(_values(rows))


def listed(findings: Findings) -> Answer:
    return {name: Counter(_values(getattr(findings, name))) for name in MARTS}


def _values(rows: Iterable[Any]) -> Iterator[tuple[object, ...]]:
    """Rows of a mart hold no other rows, so nothing has to be copied, which `astuple` does."""
    return (_of(type(row))(row) for row in rows)


@cache
def _of(kind: type[Any]) -> Callable[[Any], tuple[object, ...]]:
    return attrgetter(*(field.name for field in fields(kind)))


def raw_columns(rows: Rows) -> Columns:
    return {kind.TABLE.name: _columns(kind, rows.get(kind.TABLE.name, ())) for kind in KINDS}


def _columns(kind: type[Records], rows: Iterable[Row]) -> dict[str, Any]:
    types = arrow_schema(kind.TABLE)
    names = [field.name for field in fields(kind)]
    return {name: _column([row[name] for row in rows], types.field(name).type) for name in names}


def _column(values: list[Any], kind: pa.DataType) -> Any:
    if not pa.types.is_dictionary(kind):
        return np.array(values, kind.to_pandas_dtype())
    texts = [value or "" for value in values]
    words = tuple(dict.fromkeys([*texts, ""]))
    return words, np.array([words.index(text) for text in texts], np.int32)
