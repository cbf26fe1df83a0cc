"""The charts of a run's page beside its seconds: latencies of confirms, and failed sends by
producer and time. Two marts, and their rules; no verdict uses them.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py; *failed* is that of
sends.py. There are rows only where facts.confirms.

LATENCIES, one row a slice of the run in which a message was due that has a confirm time. Due:
where facts.paced the intended_ns of its attempt-1 row, else the least sent_ns of its sent
attempts; one without, or with a due time below 0, is left out. Its latency: confirm time - due.
Slice: floor(due / 1e9) // slice_s * slice_s, with slice_s = slice_length_s of the seconds of the
mart `seconds`. `p50_ns` and `p99_ns`: of the latencies in ascending order the one at place
ceil(n * 50 / 100), or 99, counted from 1. `messages`: n.

SENDING, one row a producer and second in which it sent an attempt: second = floor(sent_ns / 1e9),
of attempts with sent_ns >= 0. `sent`: how many; `failed`: how many of them failed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

SLICES_MAX = 180
_LENGTHS_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


@dataclass(frozen=True, slots=True, order=True)
class Latency:
    run: str
    second: int
    p50_ns: int
    p99_ns: int
    messages: int


@dataclass(frozen=True, slots=True, order=True)
class Sending:
    run: str
    producer: int
    second: int
    sent: int
    failed: int


def slice_length_s(seconds: Iterable[int]) -> int:
    """The least round length with which these seconds lie in at most SLICES_MAX slices."""
    numbers = [*seconds]
    span_s = max(numbers, default=0) - min(numbers, default=0) + 1
    fitting = (length for length in _LENGTHS_S if span_s <= (SLICES_MAX - 1) * length)
    return next(fitting, -(-span_s // (SLICES_MAX - 1)))
