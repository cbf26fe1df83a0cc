"""The way in: one run's facts and rows, judged by the rules that schema/findings.py names.

1. This is what every verdict means. The engine is written from the same text and not from this
   code; where they differ, one of them is wrong.
2. Clarity goes before speed, but every step costs n log n at most.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from tests.oracle import (
    attempts,
    attributions,
    availability,
    cases,
    check_backs,
    consumption,
    curves,
    delays,
    digest,
    doubts,
    duplicates,
    events,
    exposure,
    groups,
    loss,
    messages,
    misrouted,
    not_redelivered,
    order,
    outages,
    outcomes,
    promised,
    publishes,
    seconds,
    stages,
    starvation,
    strays,
    transactions,
    views,
)
from tests.oracle.arrivals import Arrivals
from tests.oracle.cases import Case
from tests.oracle.channels import Channels
from tests.oracle.events import Events, Row
from tests.oracle.forces import forces
from tests.oracle.messages import Message, Name
from tests.oracle.unrest import Unrest, unrest


def judge(facts: Facts, rows: Mapping[str, Iterable[Row]]) -> Findings:
    """The marts of one run; `rows` maps raw tables to rows by column, missing ones empty."""
    if facts.consumer_groups:
        return groups.judge_each(facts, rows, _judge)
    return _judge(facts, rows)


def _judge(facts: Facts, rows: Mapping[str, Iterable[Row]]) -> Findings:
    seen = events.read(rows, facts)
    by_name = messages.fold(seen)
    every = tuple(by_name.values())
    intended = publishes.intended(facts, every)
    faults = forces(facts, seen.steps)
    histories = outages.histories(facts, intended.judged, faults)
    recovered = stages.rows(facts, every, histories, faults)
    unsettled = unrest(facts, recovered)
    arrivals = Arrivals(facts, every)
    missing = tuple(loss.cases(facts, every, arrivals))
    found = (
        *missing,
        *publishes.cases(intended),
        *outcomes.cases(every, arrivals),
        *attempts.cases(facts, every, arrivals),
        *_cases(facts, by_name, seen, unsettled, missing),
    )
    affected = cases.affected(facts.run, found)
    by_second = seconds.rows(facts.run, every, intended.judged)
    return Findings(
        counts=cases.count(facts.run, found),
        affected=affected,
        attributions=attributions.rows(facts, found),
        seconds=by_second,
        availability=availability.rows(facts, every, intended.judged, recovered),
        stages=(*recovered, *views.stages(facts, rows)),
        outages=outages.rows(facts.run, histories),
        service=promised.rows(facts, histories, faults),
        exposure=exposure.rows(facts, every, histories, faults),
        consumption=consumption.rows(facts, every, faults),
        starvation=starvation.rows(facts, every, faults, Channels(seen)),
        doubts=doubts.rows(facts, every, Channels(seen), seen.stalls, missing),
        marks=digest.marks(facts.run, affected),
        examples=digest.examples(affected),
        later=digest.later(facts, affected, recovered),
        latencies=curves.latencies(facts, every, by_second),
        sending=curves.sending(facts, every),
    )


def _cases(
    facts: Facts,
    by_name: Mapping[Name, Message],
    seen: Events,
    unsettled: Sequence[Unrest],
    missing: Sequence[Case],
) -> Iterator[Case]:
    """Yield the cases of messages, and those of deliveries that were not redelivered."""
    every, channels = tuple(by_name.values()), Channels(seen)
    yield from not_redelivered.cases(facts, every, channels)
    yield from misrouted.cases(every)
    yield from delays.cases(facts, every)
    yield from transactions.cases(facts, every, missing)
    yield from check_backs.cases(facts, every, seen.connection_ends)
    yield from strays.cases(facts, by_name, seen.deliveries)
    yield from duplicates.cases(facts, every, channels, unsettled)
    yield from order.cases(facts, every)
