"""Affected messages for a page, in few rows however many there are: three marts.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. They are made of the rows of `affected` and `stages`.

MARKS, one row a measure and second in which a row of `affected` with at_ns >= 0 lies; second =
floor(at_ns / 1e9). `cases`: how many such rows.

EXAMPLES, rows of `affected`: of each measure and detail the first row of each of the first
EXAMPLES_MAX messages. Rows are ordered by (at_ns, producer, sequence, attempt, queue). The message
of a row is (producer, sequence); where producer < 0 it is (at_ns, producer, sequence, attempt).

LATER, one row a window >= 1 whose stage sustained_success is reached. `missed`: the rows of
`affected` of measure `missed` with from <= at_ns < until; from = origin_ns + after_ns + GOOD_NS,
until = the least origin_ns of windows of a higher number, where there is one.
"""

from dataclasses import dataclass

EXAMPLES_MAX = 5
GOOD_S = 5  # so long sending was on time when `degraded` ended, or longer (docs/verdicts.md 7.2)
GOOD_NS = GOOD_S * 1_000_000_000
SUSTAINED, MISSED = "sustained_success", "missed"  # a stage, a measure


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    run: str
    measure: str
    second: int
    cases: int


@dataclass(frozen=True, slots=True, order=True)
class Later:
    run: str
    window: int
    missed: int
