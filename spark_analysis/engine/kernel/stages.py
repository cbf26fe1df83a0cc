"""The recovery stages of each fault window, and how long each took.

1. A stage that was not reached is at least as late as the end of the observed time: a lower bound.
2. A stage that cannot be judged in this run (no confirms, no intended times) has no row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spark_analysis.engine.kernel.arrays import NEVER
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.backlog import Backlog
from spark_analysis.engine.kernel.consumption import Given
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.stretches import Course
from spark_analysis.engine.kernel.sustained import sustained
from spark_analysis.engine.kernel.windows import Force, Judged, in_order, judged_times
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts, Window

FIRST_SUCCESS, CONSUMERS_RESUMED = "first_success", "consumers_resumed"


def stages(
    messages: Messages,
    arrived: Arrivals,
    found: Given,
    run_course: Course | None,
    forces: Sequence[Force],
    facts: Facts,
) -> list[Stage]:
    """One row a window and stage. `run_course`: None where there is no history."""
    windows, limits = in_order(facts), judged_times(facts)[1:]
    resumed = [
        found.resumed_ns(window, judged.until_ns)
        for window, judged in zip(windows, limits, strict=True)
    ]
    columns = {CONSUMERS_RESUMED: resumed}
    if facts.confirms:
        columns[FIRST_SUCCESS] = [*_first_success(messages, windows, limits)]
        if any(worker.role == "consumer" for worker in facts.workers):
            columns["backlog_drained"] = [*_backlog_drained(messages, arrived, facts, resumed)]
    rows = [
        _row(
            facts.run,
            window,
            stage,
            at_ns is not None,
            judged.until_ns if at_ns is None else at_ns,
        )
        for stage, times_ns in columns.items()
        for window, judged, at_ns in zip(windows, limits, times_ns, strict=True)
    ]
    if run_course is not None:
        lasting = sustained(run_course, forces, limits, facts.deadline_ns)
        for window, (reached, at_ns, recovered_by) in zip(windows, lasting, strict=True):
            row = _row(facts.run, window, "sustained_success", reached, at_ns)
            rows.append(replace(row, recovered_by=str(recovered_by)))
    return rows


def settled(facts: Facts, reached: Sequence[Stage]) -> Facts:
    """With what is known of windows whose host never returns: the change of master is over once
    serving and consuming have resumed."""
    after_ns = {(row.window, row.stage): row.after_ns for row in reached if row.reached}
    windows = []
    for window in facts.windows:
        served_ns = after_ns.get((window.number, FIRST_SUCCESS))
        resumed_ns = after_ns.get((window.number, CONSUMERS_RESUMED))
        for_ever = window.over_ns is None and window.ended_ns is None
        if for_ever and served_ns is not None and resumed_ns is not None:
            over_ns = window.origin_ns + max(served_ns, resumed_ns) - 1
            windows.append(replace(window, over_ns=over_ns))
        else:
            windows.append(window)
    return replace(facts, windows=tuple(windows))


def _row(run: str, window: Window, stage: str, reached: bool, at_ns: int) -> Stage:
    uncertainty_ns = window.returned_ns - window.origin_ns
    return Stage(run, window.number, stage, reached, at_ns - window.origin_ns, uncertainty_ns)


def _first_success(
    messages: Messages, windows: Sequence[Window], limits: Sequence[Judged]
) -> Iterator[int | None]:
    for window, judged in zip(windows, limits, strict=True):
        after = messages.confirms_sent_ns >= window.returned_ns
        at_ns = int(messages.confirms_settled_ns[after].min(initial=NEVER))
        yield at_ns if at_ns <= judged.until_ns else None


def _backlog_drained(
    messages: Messages, arrived: Arrivals, facts: Facts, resumed: Sequence[int | None]
) -> Iterator[int | None]:
    if not facts.windows:
        return
    backlog = Backlog.of(messages, arrived, facts.deadline_ns)
    limits = judged_times(facts)[1:]
    for window, judged, resumed_ns in zip(in_order(facts), limits, resumed, strict=True):
        yield (
            None
            if resumed_ns is None
            else backlog.drained_ns(resumed_ns, window.returned_ns, judged.until_ns)
        )
