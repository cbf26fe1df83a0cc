"""Runs with two consumer groups: each group got what the consumers of one run got.

The two runs differ in what consumers saw, and in nothing else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from spark_analysis.schema.facts import ConsumerGroup, Facts, GroupQueue
from tests.rigs.defects.runs import Row, Run

NAMES = ("first", "second")
_APART = 1_000  # between the numbers of the same worker in two groups
_OF_CONSUMERS = ("deliveries", "client_events")


def grouped(first: Run, second: Run) -> Run:
    """Return one run of both. Raise ValueError if the same was not sent in both."""
    if not same_sent(first, second):
        raise ValueError(f"{first.name} and {second.name} differ in more than what came")
    return replace(first, facts=_facts(first.facts)).having(
        deliveries=_rows(first, second, "deliveries", "consumer"),
        client_events=_rows(first, second, "client_events", "worker"),
    )


def same_sent(first: Run, second: Run) -> bool:
    """Return whether two runs differ at most in what consumers saw."""
    one, other = (
        {name: it for name, it in run.rows.items() if name not in _OF_CONSUMERS}
        for run in (first, second)
    )
    return one == other and first.facts == second.facts


def _consumers(facts: Facts) -> tuple[int, ...]:
    return tuple(one.number for one in facts.workers if one.role == "consumer")


def _facts(facts: Facts) -> Facts:
    """Return the facts of a run whose consumers and queues there are once for each group."""
    consumers = _consumers(facts)
    groups = tuple(
        ConsumerGroup(
            name,
            tuple(GroupQueue(f"{end.queue}-{name}", end.queue) for end in facts.queues),
            tuple(number + place * _APART for number in consumers),
        )
        for place, name in enumerate(NAMES)
    )
    workers = tuple(
        replace(one, number=one.number + _APART) for one in facts.workers if one.role == "consumer"
    )
    return replace(
        facts,
        workers=(*facts.workers, *workers),
        queues=tuple(
            replace(end, queue=f"{end.queue}-{name}") for end in facts.queues for name in NAMES
        ),
        consumer_groups=groups,
    )


def _rows(first: Run, second: Run, table: str, column: str) -> Iterable[Row]:
    """Return the rows of both runs. What publishers saw is that of the first."""
    publishers = {one.number for one in first.facts.workers if one.role == "publisher"}
    yield from _of_group(first.table(table), NAMES[0], column, 0)
    own = (row for row in second.table(table) if row[column] not in publishers)
    yield from _of_group(own, NAMES[1], column, _APART)


def _of_group(rows: Iterable[Row], name: str, column: str, apart: int) -> Iterator[Row]:
    for row in rows:
        queue = row["queue"] and f"{row['queue']}-{name}"
        yield {**row, column: row[column] + apart, "queue": queue}
