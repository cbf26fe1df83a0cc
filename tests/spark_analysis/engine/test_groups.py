"""The kernels and the oracle agree on runs with several consumer groups.

Each generated history becomes one: its two consumers are two groups, every third message comes to
both of them, and of what the audit found every second message lies in the log of both.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spark_analysis.engine.judge import judge as judge_by_kernels
from spark_analysis.engine.tables import RunFolder
from spark_analysis.schema.facts import ConsumerGroup, Facts, GroupQueue
from spark_analysis.schema.findings import MARTS
from tests.oracle.judge import judge
from tests.rigs.generated.facts import CONSUMERS, QUEUES
from tests.rigs.generated.histories import Row, Rows
from tests.rigs.histories.both_judges import (
    by_kernels,
    costs_by_both,
    listed,
    raw_columns,
    sends_by_both,
    views_by_both,
)
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.fixed import few_histories
from tests.rigs.histories.ways import Via
from tests.rigs.runs.run_folders import write_run

GROUPS = ("billing", "archive")
FIRST_COPY = 1 << 20  # a tag that no generated delivery has
BESIDE_VERDICTS = 20  # histories: these marts are those of sending, whatever groups there are


def grouped(facts: Facts, rows: Rows) -> tuple[Facts, Rows]:
    groups = (
        ConsumerGroup(
            name,
            tuple(GroupQueue(f"{queue}-{name}", queue) for queue in QUEUES),
            tuple(number for number in CONSUMERS if number % 2 == place),
        )
        for place, name in enumerate(GROUPS)
    )
    leaders = (replace(one, queue=f"{one.queue}-{GROUPS[0]}") for one in facts.competing_leaders)
    ends = (
        replace(end, queue=f"{end.queue}-{name}", drained=end.drained or name == GROUPS[1])
        for end in facts.queues
        for name in GROUPS
    )
    facts = replace(
        facts,
        queues=tuple(ends),
        competing_leaders=tuple(leaders),
        consumer_groups=tuple(groups),
    )
    deliveries = [each for row in rows.get("deliveries", ()) for each in _of_groups(row)]
    return facts, {**rows, "deliveries": deliveries}


def _of_groups(row: Row) -> Iterator[Row]:
    queue = row["queue"] if row["queue"] in QUEUES else QUEUES[0]
    consumer, sequence, tag = (row[name] for name in ("consumer", "sequence", "tag"))
    assert isinstance(consumer, int)
    assert isinstance(sequence, int)
    assert isinstance(tag, int)
    by_audit = row["via"] in (Via.AUDIT, Via.HALF)
    if by_audit and sequence % 2:
        yield {**row, "queue": queue}
        return
    yield {**row, "queue": f"{queue}-{GROUPS[consumer % 2]}"}
    if consumer in CONSUMERS and sequence % 3 == 0 and not by_audit:
        other = next(number for number in CONSUMERS if number != consumer)
        own = f"{queue}-{GROUPS[other % 2]}"
        yield {**row, "consumer": other, "queue": own, "tag": tag + FIRST_COPY}


@pytest.mark.slow
def test_both_judges_agree_on_every_group() -> None:
    seen = set[tuple[str, str]]()
    for history in few_histories():
        facts, rows = grouped(*history)
        findings = judge(facts, rows)
        assert by_kernels(facts, raw_columns(rows)) == listed(findings), facts.run
        seen |= {(row.measure, row.queue.partition("-")[2]) for row in findings.counts}
    for each in ("lost", "duplicated", "in_order", "could_show"):
        found = {group for measure, group in seen if measure == each}
        assert found >= set(GROUPS), f"some messages are {each} for each group"
    assert {group for measure, group in seen if measure == "state"} == {""}


@pytest.mark.slow
def test_marts_beside_verdicts_are_those_of_sending() -> None:
    for history in few_histories()[:BESIDE_VERDICTS]:
        facts, rows = grouped(*history)
        for by_both in (costs_by_both, sends_by_both, views_by_both):
            by_both(facts, rows)


@pytest.mark.parametrize("large", [0, 1 << 20])
def test_columns_of_large_tables_are_renamed_when_they_are_read(
    tmp_path: Path, large: int
) -> None:
    history = History().group("billing", 2).group("archive", 3)
    for sequence in range(1, 5):
        history.publish(sequence).confirm(sequence)
        history.deliver(sequence, queue="orders-billing", consumer=2)
    history.deliver(2, queue="orders-archive", consumer=3)
    facts, rows = history.build()
    folder = write_run(tmp_path / "run", facts, rows)
    marts = judge_by_kernels(facts, RunFolder(folder, large))
    found = {
        name: Counter(tuple(row.values()) for row in marts[name].to_pylist()) for name in MARTS
    }
    assert found == listed(judge(facts, rows))
