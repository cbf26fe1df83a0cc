"""The cost of a run before its first fault: load and latency of the whole, use of each host.

1. A resources table has one row per host and second, so hosts are processed one by one.
2. A value that was not measured is None, never 0.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.publishes import Publishes
from spark_analysis.engine.kernel.events.windows import Judged, judged_times
from spark_analysis.engine.kernel.records import Resources
from spark_analysis.schema.costs import COUNTERS, MEMORY, SteadyState, Use
from spark_analysis.schema.facts import Facts


def steady_state(known: Messages, publishes: Publishes, facts: Facts) -> list[SteadyState]:
    """The run's row; none where nothing is confirmed by design, or nothing came before a fault."""
    time = judged_times(facts)[0]
    if not facts.confirms or time.until_ns <= time.from_ns:
        return []
    begun, begun_ns = _begun(known, facts)
    inside = _within(begun_ns, time)
    begun, begun_ns = begun[inside], begun_ns[inside]
    confirmed_ns = known.confirmed_ns[begun]
    answered = confirmed_ns < NEVER
    took_ns = np.sort(confirmed_ns[answered] - begun_ns[answered])
    return [
        SteadyState(
            run=facts.run,
            from_ns=time.from_ns,
            until_ns=time.until_ns,
            intended=int(np.count_nonzero(_within(publishes.intended_ns, time))),
            confirmed=int(np.count_nonzero(_within(known.confirmed_ns, time))),
            begun=len(begun),
            p50_ns=_rank(took_ns, 50),
            p99_ns=_rank(took_ns, 99),
        )
    ]


def use(resources: Resources, facts: Facts) -> list[Use]:
    """One row a host."""
    time = judged_times(facts)[0]
    counted = [name for name in (*COUNTERS, MEMORY) if getattr(resources, name).any()]
    steady_rows = resources.pick(_within(resources.at_ns, time))
    ordered = steady_rows.pick(np.argsort(steady_rows.at_ns, kind="stable"))
    present = np.unique(resources.host.numbers).tolist()
    return [
        _host(
            ordered.pick(ordered.host.numbers == number),
            resources.host.words[number],
            counted,
            facts.run,
        )
        for number in present
    ]


def _begun(known: Messages, facts: Facts) -> tuple[Ints, Ints]:
    """The slots of messages that were begun, and when."""
    if not facts.paced:
        slots = np.flatnonzero(known.sent)
        return slots, known.first_sent_ns[slots]
    slots = np.flatnonzero(known.rows.first >= 0)
    intended_ns = known.attempts.intended_ns[known.rows.first[slots]]
    return slots[intended_ns >= 0], intended_ns[intended_ns >= 0]


def _host(samples: Resources, host: str, counted: list[str], run: str) -> Use:
    number = len(samples.at_ns)
    if number < 2:
        return Use(run, host, number, 0, 0, *[None] * 7)
    memory = np.sort(samples.memory_bytes) if MEMORY in counted else samples.memory_bytes[:0]
    grown = {
        name: _growth(getattr(samples, name)) if name in counted else None for name in COUNTERS
    }
    return Use(
        run=run,
        host=host,
        samples=number,
        from_ns=int(samples.at_ns[0]),
        until_ns=int(samples.at_ns[-1]),
        memory_median_bytes=_rank(memory, 50),
        memory_peak_bytes=_rank(memory, 100),
        **grown,
    )


def _growth(counter: Ints) -> int | None:
    return None if (np.diff(counter) < 0).any() else int(counter[-1] - counter[0])


def _rank(ascending: Ints, percent: int) -> int | None:
    """Return the nearest-rank percentile. It uses integers throughout, so that no rounding
    decides."""
    number = len(ascending)
    return int(ascending[(percent * number + 99) // 100 - 1]) if number else None


def _within(at_ns: Ints, time: Judged) -> Bools:
    return (at_ns >= time.from_ns) & (at_ns < time.until_ns)
