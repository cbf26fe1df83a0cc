"""Several consumer groups: what each of them saw, and the findings of one run made of theirs.

1. A group's run is the run without the queues, deliveries and consumers of other groups. What was
   sent to a queue was sent to the group's own queue of it.
2. What a log holds it holds for every group that reads it, so each such group's run has the finds
   of an audit. What was sent to a queue that only other groups read is none of a group's messages,
   unless it came in one of the group's queues.
3. A send is counted once, and whatever comes of it once for each group.
4. A message that consumers of one group got was committed: if the broker had to check it, it did.
   If one of their logs is not closed, they may have got a message off the record.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import ConsumerGroup, Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.groups import OF_CONSUMING, OF_SENDING, UNPROVED_NS
from spark_analysis.schema.messages import Attribution, Count
from spark_analysis.schema.ways import AUDIT, LOAD, OWN_WAYS
from spark_analysis.schema.words import Fate
from tests.oracle import digest
from tests.oracle.events import Row

Rows = Mapping[str, Iterable[Row]]
Judge = Callable[[Facts, Rows], Findings]
Named = tuple[int | str | None, int | str | None]  # the producer and the sequence of a row


def judge_each(facts: Facts, rows: Rows, judge_one: Judge) -> Findings:
    """The findings of a run with consumer groups. `judge_one` judges a run without any."""
    kept = {table: tuple(listing) for table, listing in rows.items()}
    sending = judge_one(replace(facts, consumer_groups=()), kept)
    groups = [
        judge_one(_facts(facts, group), _rows(facts, kept, group))
        for group in facts.consumer_groups
    ]
    affected = (
        *(row for row in sending.affected if row.measure in OF_SENDING),
        *(row for one in groups for row in one.affected if row.measure not in OF_SENDING),
    )
    return replace(
        sending,
        counts=_counts(sending, groups),
        affected=affected,
        attributions=_attributions(row for one in groups for row in one.attributions),
        stages=(
            *(row for row in sending.stages if row.stage not in OF_CONSUMING),
            *_latest(row for one in groups for row in one.stages if row.stage in OF_CONSUMING),
        ),
        consumption=tuple({row for one in groups for row in one.consumption}),
        starvation=tuple({row for one in groups for row in one.starvation}),
        doubts=tuple({row for one in groups for row in one.doubts}),
        marks=digest.marks(facts.run, affected),
        examples=digest.examples(affected),
    )


def _facts(facts: Facts, group: ConsumerGroup) -> Facts:
    elsewhere = {
        number
        for other in facts.consumer_groups
        if other.name != group.name
        for number in other.consumers
    }
    died = any(one.number in elsewhere and not one.log_closed for one in facts.workers)
    checked = facts.checks_within_ns is not None
    own = {queue.queue for queue in group.queues}
    its = {queue.of: queue.queue for queue in group.queues}
    leaders = (
        replace(one, queue=its.get(one.queue, one.queue)) for one in facts.competing_leaders
    )
    return replace(
        facts,
        competing_leaders=tuple(leaders),
        consumer_groups=(),
        checks_within_ns=UNPROVED_NS if died and checked else facts.checks_within_ns,
        queues=tuple(end for end in facts.queues if end.queue in own),
        workers=tuple(
            worker
            for worker in facts.workers
            if not (worker.role == "consumer" and worker.number in elsewhere)
        ),
    )


def _rows(facts: Facts, rows: Rows, group: ConsumerGroup) -> Rows:
    its = {queue.of: queue.queue for queue in group.queues}
    sent_to = {queue.of for one in facts.consumer_groups for queue in one.queues}
    every = {queue.queue for one in facts.consumer_groups for queue in one.queues}
    deliveries = [*rows.get("deliveries", ())]
    early = {way.number for way in (*OWN_WAYS, *facts.ways) if way.by == LOAD}
    came = {way.number for way in (*OWN_WAYS, *facts.ways) if way.by != AUDIT}
    others = _named(deliveries, every - {*its.values()}, early)
    own = _named(deliveries, its.values(), came)
    seen = tuple(_deliveries(facts, deliveries, its))
    elsewhere = _sent(rows, sent_to - its.keys()) - {_name(row) for row in seen if _readable(row)}
    kept = {
        table: tuple(row for row in rows.get(table, ()) if _name(row) not in elsewhere)
        for table in ("attempts", "settlements", "terms")
    }
    return {
        **rows,
        "attempts": tuple(
            {**row, "queue": its.get(str(row["queue"]), row["queue"])} for row in kept["attempts"]
        ),
        "settlements": kept["settlements"],
        "deliveries": seen,
        "terms": tuple(_committed(kept["terms"], others - own)),
    }


def _sent(rows: Rows, queues: Collection[str]) -> set[Named]:
    """Return the messages that were sent to these queues."""
    return {_name(row) for row in rows.get("attempts", ()) if row["queue"] in queues}


def _named(rows: Iterable[Row], queues: Collection[str], ways: Collection[int]) -> set[Named]:
    """Return the messages that came in these queues, by these ways."""
    return {
        _name(row)
        for row in rows
        if row["queue"] in queues and row["via"] in ways and _readable(row)
    }


def _name(row: Row) -> Named:
    return row["producer"], row["sequence"]


def _readable(row: Row) -> bool:
    return bool(row["header_ok"] and row["run_ok"])


def _committed(rows: Iterable[Row], proved: Collection[Named]) -> Iterator[Row]:
    for row in rows:
        checked = row["fate"] == Fate.COMMIT_WHEN_CHECKED
        if checked and _name(row) in proved:
            yield {**row, "fate": int(Fate.COMMIT)}
        else:
            yield row


def _deliveries(facts: Facts, rows: Iterable[Row], its: Mapping[str, str]) -> Iterator[Row]:
    finds = {way.number for way in (*OWN_WAYS, *facts.ways) if way.by == AUDIT}
    for row in rows:
        queue = str(row["queue"])
        if queue in its.values():
            yield row
        elif row["via"] in finds and queue in its:
            yield {**row, "queue": its[queue]}


def _counts(sending: Findings, groups: Iterable[Findings]) -> tuple[Count, ...]:
    sums: Counter[tuple[str, str, str, str]] = Counter()
    for findings, of_sending in ((sending, True), *((one, False) for one in groups)):
        for row in findings.counts:
            if (row.measure in OF_SENDING) is of_sending:
                sums[row.run, row.queue, row.measure, row.detail] += row.count
    return tuple(Count(*what, number) for what, number in sorted(sums.items()))


def _attributions(rows: Iterable[Attribution]) -> tuple[Attribution, ...]:
    sums: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        sums[row.run, row.measure, row.detail, row.windows] += row.count
    return tuple(Attribution(*what, number) for what, number in sorted(sums.items()))


def _latest(rows: Iterable[Stage]) -> tuple[Stage, ...]:
    """The latest of each window and stage: what one group did not reach the run did not."""
    latest: dict[tuple[int, str], Stage] = {}
    for row in sorted(rows, key=lambda one: (not one.reached, one.after_ns)):
        latest[row.window, row.stage] = row
    return tuple(latest.values())
