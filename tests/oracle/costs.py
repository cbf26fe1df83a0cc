"""The cost of a run in its steady state: load and latency of the whole, use of each host.

1. The steady state is the time before the first fault; nothing after it counts.
2. A counter is the difference of two readings. If the kernel did not count, or the counter was
   reset in between, the value is None and never 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from spark_analysis.schema.costs import COUNTERS, MEMORY, Costs, SteadyState, Use
from spark_analysis.schema.facts import Facts
from tests.oracle import events, messages
from tests.oracle.events import Row
from tests.oracle.messages import Message
from tests.oracle.publishes import intended
from tests.oracle.windows import Judged, judged


def costs(facts: Facts, rows: Mapping[str, Iterable[Row]]) -> Costs:
    """Both marts of one run; `rows` maps raw tables to rows by column, missing ones empty."""
    steady = judged(facts)[0]
    every = tuple(messages.fold(events.read(rows, facts)).values())
    return Costs(
        _steady_state(facts, steady, every),
        _use(facts.run, steady, tuple(rows.get("resources", ()))),
    )


def _steady_state(
    facts: Facts, steady: Judged, every: Sequence[Message]
) -> tuple[SteadyState, ...]:
    if not facts.confirms or steady.until_ns <= steady.from_ns:
        return ()
    publishes = intended(facts, every)
    begun = [
        (message, at_ns)
        for message in every
        if (at_ns := _begun_ns(facts, message)) is not None and _within(at_ns, steady)
    ]
    took_ns = sorted(
        message.confirmed_ns - at_ns
        for message, at_ns in begun
        if message.confirmed_ns is not None
    )
    row = SteadyState(
        run=facts.run,
        from_ns=steady.from_ns,
        until_ns=steady.until_ns,
        intended=sum(_within(publish.intended_ns, steady) for publish in publishes.judged),
        confirmed=sum(
            message.confirmed_ns is not None and _within(message.confirmed_ns, steady)
            for message in every
        ),
        begun=len(begun),
        p50_ns=_nearest_rank(took_ns, 50),
        p99_ns=_nearest_rank(took_ns, 99),
    )
    return (row,)


def _begun_ns(facts: Facts, message: Message) -> int | None:
    if not facts.paced:
        return message.first_sent_ns if message.sent else None
    first_try = message.attempt(1)
    if first_try is None or first_try.intended_ns < 0:
        return None
    return first_try.intended_ns


def _use(run: str, steady: Judged, rows: Sequence[Row]) -> tuple[Use, ...]:
    counted = {name for name in (*COUNTERS, MEMORY) if any(row[name] for row in rows)}
    hosts = sorted({str(row["host"] or "") for row in rows})
    return tuple(_of_host(run, host, _samples(host, steady, rows), counted) for host in hosts)


def _samples(host: str, steady: Judged, rows: Iterable[Row]) -> list[dict[str, Any]]:
    own: Iterable[dict[str, Any]] = (dict(row) for row in rows if (row["host"] or "") == host)
    return sorted(
        (row for row in own if _within(row["at_ns"], steady)), key=lambda row: row["at_ns"]
    )


def _of_host(run: str, host: str, samples: Sequence[Mapping[str, Any]], counted: set[str]) -> Use:
    few = len(samples) < 2
    memory = [] if few or MEMORY not in counted else sorted(row[MEMORY] for row in samples)
    return Use(
        run=run,
        host=host,
        samples=len(samples),
        from_ns=0 if few else samples[0]["at_ns"],
        until_ns=0 if few else samples[-1]["at_ns"],
        memory_median_bytes=_nearest_rank(memory, 50),
        memory_peak_bytes=memory[-1] if memory else None,
        **{
            name: None if few or name not in counted else _growth([row[name] for row in samples])
            for name in COUNTERS
        },
    )


def _growth(values: Sequence[int]) -> int | None:
    """Return the growth of a counter; None if it was reset, because the earlier part is
    unknown."""
    if any(after < before for before, after in pairwise(values)):
        return None
    return values[-1] - values[0]


def _nearest_rank(ascending: Sequence[int], percent: int) -> int | None:
    """The smallest value that at least so many per cent of all do not exceed."""
    if not ascending:
        return None
    rank = -(-percent * len(ascending) // 100)
    return ascending[rank - 1]


def _within(at_ns: int, steady: Judged) -> bool:
    return steady.from_ns <= at_ns < steady.until_ns
