"""How long it took to come back: the recovery stages of each fault window.

1. A stage that was not reached is at least as late as what was looked at: a lower bound.
2. A stage that cannot be judged in this run (no confirms, no intended times) has no row.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spark_analysis.engine.kernel import sustained
from spark_analysis.engine.kernel.arrays import NEVER
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.backlog import Backlog
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.operations import Operations
from spark_analysis.engine.kernel.records import Faults
from spark_analysis.engine.kernel.windows import Judged, in_order, judged_times
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Stage
from spark_analysis.schema.words import Via

_Reached = tuple[bool, int]  # and when; where not reached the last time that is known of


def stages(
    messages: Messages,
    arrived: Arrivals,
    operations: Operations,
    faults: Faults,
    facts: Facts,
) -> list[Stage]:
    """One row a window and stage."""
    windows = in_order(facts)
    limits = judged_times(facts)[1:]
    columns: dict[str, Iterator[_Reached]] = {
        "consumers_resumed": _consumers_resumed(messages, arrived, windows, limits)
    }
    if facts.confirms:
        columns["first_success"] = _first_success(messages, windows, limits)
        columns["backlog_drained"] = _backlog_drained(messages, arrived, facts, limits)
    rows = [
        _row(facts.run, window, stage, *reached)
        for stage, times in columns.items()
        for window, reached in zip(windows, times, strict=True)
    ]
    if facts.confirms and facts.paced:
        rows += _sustained_success(operations, faults, facts)
    return rows


def _row(run: str, window: Window, stage: str, reached: bool, at_ns: int) -> Stage:
    uncertainty_ns = window.returned_ns - window.origin_ns
    return Stage(run, window.number, stage, reached, at_ns - window.origin_ns, uncertainty_ns)


def _sustained_success(operations: Operations, faults: Faults, facts: Facts) -> Iterator[Stage]:
    periods = sustained.periods(operations, facts.load_ended_ns)
    for window, judged in zip(in_order(facts), judged_times(facts)[1:], strict=True):
        reached, at_ns = periods.first_good(judged.from_ns, judged.until_ns)
        row = _row(facts.run, window, "sustained_success", reached, at_ns)
        if reached:
            to = sustained.owed(periods, facts, faults, window, at_ns)
            row = replace(row, owed=to)
        yield row


def _by(at_ns: int, limit_ns: int) -> _Reached:
    return (True, at_ns) if at_ns <= limit_ns else (False, limit_ns)


def _first_success(
    messages: Messages, windows: tuple[Window, ...], limits: tuple[Judged, ...]
) -> Iterator[_Reached]:
    for window, judged in zip(windows, limits, strict=True):
        after = messages.confirms_sent_ns >= window.returned_ns
        yield _by(int(messages.confirms_settled_ns[after].min(initial=NEVER)), judged.until_ns)


def _consumers_resumed(
    messages: Messages,
    arrived: Arrivals,
    windows: tuple[Window, ...],
    limits: tuple[Judged, ...],
) -> Iterator[_Reached]:
    loaded = arrived.identified & (arrived.rows.via == Via.LOAD)
    rows = np.flatnonzero(loaded & messages.sent_attempt(arrived.attempt_row))
    sent_ns = messages.attempts.sent_ns[arrived.attempt_row[rows]]
    for window, judged in zip(windows, limits, strict=True):
        received_ns = arrived.received_ns(rows[sent_ns >= window.returned_ns][:1])
        yield _by(int(received_ns.min(initial=NEVER)), judged.until_ns)


def _backlog_drained(
    messages: Messages, arrived: Arrivals, facts: Facts, limits: tuple[Judged, ...]
) -> Iterator[_Reached]:
    windows = in_order(facts)
    if not windows:
        return
    backlog = Backlog.of(messages, arrived)
    base = backlog.largest(facts.load_started_ns, windows[0].origin_ns)
    for window, judged in zip(windows, limits, strict=True):
        drained_ns = backlog.drained_ns(base, window.returned_ns, judged.until_ns)
        yield (False, judged.until_ns) if drained_ns is None else (True, drained_ns)
