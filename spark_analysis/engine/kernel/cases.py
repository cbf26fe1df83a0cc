"""The result of a kernel: cases of one measure, which are counted and mostly listed, too.

1. A count is the number of its cases; `Affected` lists the very same cases.
2. Measures that only say how much was judged are a `Census`: counted, never listed.
3. For the attribution to windows each case has the bounds of the time in which it was caused.
"""

from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.arrays import Ints, blocks
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.messages import Count


@dataclass(frozen=True, slots=True)
class Census:
    """One measure: the detail and the queue of each case."""

    measure: str
    detail: Text
    queue: Text


@dataclass(frozen=True, slots=True)
class Cases:
    """A census whose cases have names."""

    census: Census
    producer: Ints
    sequence: Ints
    attempt: Ints
    at_ns: Ints
    since_ns: Ints | None = None  # None: no window is charged with it
    by_ns: Ints | None = None  # None: by when it should have come


def plain(cases: int) -> Text:
    """The detail "" for every case."""
    return Text(("",), np.zeros(cases, np.int32))


def could_show(measure: str, queue: Text) -> Census:
    """The messages that could have shown a class; `queue`: of each."""
    return Census("could_show", Text((measure,), np.zeros(len(queue), np.int32)), queue)


def counts(run: str, census: Census) -> list[Count]:
    """The counts of one measure; a count of 0 has no row."""
    details = len(census.detail.words)
    cells = np.zeros(len(census.queue.words) * details, np.int64)
    for some in blocks(len(census.queue)):
        number = census.queue.numbers[some].astype(np.int64) * details
        number += census.detail.numbers[some]
        cells += np.bincount(number, minlength=len(cells))
    return [
        Count(
            run,
            census.queue.words[number // details],
            census.measure,
            census.detail.words[number % details],
            int(cells[number]),
        )
        for number in np.flatnonzero(cells).tolist()
    ]
