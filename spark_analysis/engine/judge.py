"""Judgement of one run: from its facts and records to the rows of its marts.

1. It does not need Spark. Spark tasks run it, and so can a caller with a single history.
2. A run that cannot be judged becomes one doubt and one row with the reason. It never affects the
   judgement of other runs.
"""

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import cast

import pyarrow as pa

from spark_analysis.engine import judging, rows, tables
from spark_analysis.engine.kernel import digest, doubts, groups
from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.records import BadRecords, R, Reader, Records
from spark_analysis.engine.threads import Threads
from spark_analysis.files.failed import Failed, failed
from spark_analysis.schema.comparison import Cell, Time
from spark_analysis.schema.costs import COSTS
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.groups import OF_SENDING
from spark_analysis.schema.question import Question
from spark_analysis.schema.sends import SENDS
from spark_analysis.schema.views import VIEWS

# Which cell of a comparison each run belongs to, which times it has its worst of, and why it was
# not judged: handed over like marts, not written.
CELLS, TIMES, FAILED = "cells", "times", "failed"
LISTED = "affected"  # has a row a case: made of arrays, and not of rows

SHARED_FROM = 1 << 18  # rows: a quarter of a second's work for one hand
# What a run holds at most while it is judged: bytes for each attempt and delivery, and more for
# each hand. Measured with 13.3 million messages: 101 by one, 121 by two; others may meet worse.
_ROW_BYTES, _ROW_BYTES_PER_THREAD = 72, 30
WRITTEN_MARTS: dict[str, type] = {**MARTS, **COSTS, **SENDS, **VIEWS}  # what is written
JUDGED: dict[str, type] = {**WRITTEN_MARTS, CELLS: Cell, TIMES: Time, FAILED: Failed}


def judge_folder(
    folder: Path,
    question: Question | None = None,
    threads: int = 1,
    shared_from: int = SHARED_FROM,
    memory: int = 0,
) -> Iterator[tuple[str, pa.Table]]:
    """The marts of one run folder: what pyarrow reads, whole columns at a time.

    `question`: what is asked beside what was recorded; None: what the facts themselves say.
    `threads`: how many may share the work on a run of `shared_from` rows and more, as long as what
    they hold stays below `memory` bytes; one may hold more.
    """
    run = question.run if question and question.run else folder.name
    try:
        facts = tables.read_facts(folder)
        facts = question.of(facts) if question else facts
        run = facts.run
        records = tables.RunFolder(folder)
        found = judge(facts, records, _sharing(records.size, threads, shared_from, memory))
    except BadRecords as reason:
        reason_text = str(reason) if str(folder) in str(reason) else f"{folder}: {reason}"
        found = unjudged(Failed(run, reason_text, ""))
    except Exception as error:  # unforeseen, but other runs can still be judged
        found = unjudged(failed(run, folder, error))
    yield from found.items()


def _sharing(rows_in_all: int, threads: int, shared_from: int, memory: int) -> int:
    if rows_in_all < max(1, shared_from):
        return 1
    fitting = (memory // rows_in_all - _ROW_BYTES) // _ROW_BYTES_PER_THREAD
    return max(1, min(threads, fitting))


def unjudged(why: Failed) -> dict[str, pa.Table]:
    """All that is handed over of a run that cannot be judged."""
    found: dict[str, list[object]] = {"doubts": [doubts.unjudged(why.run)], FAILED: [why]}
    return {name: rows.table(JUDGED[name], listing) for name, listing in found.items()}


def judge(facts: Facts, reader: Reader, threads: int = 1) -> dict[str, pa.Table]:
    """Every mart of one run. Raises BadRecords where the records contradict their schema."""
    once = Once(reader)
    found, listed = (
        _judged_by_groups(facts, once, threads)
        if facts.consumer_groups
        else _judged(facts, once, threads)
    )
    found[CELLS] = [Cell.of(facts)]
    found[TIMES] = [*Time.all_of(facts)]
    marts = {name: rows.table(JUDGED[name], listing) for name, listing in found.items()}
    return {**marts, LISTED: rows.affected(facts.run, listed)}


_Found = tuple[dict[str, list[object]], list[Cases]]  # rows by mart; the cases that are listed


def _judged_by_groups(facts: Facts, reader: Reader, threads: int) -> _Found:
    """The marts of a run with several consumer groups: one view after the other."""
    sent = groups.of_sending(facts, reader)
    sending, cases = _judged(sent.facts, sent.reader, threads, of_sending=True)
    listed = [each for each in cases if each.census.measure in OF_SENDING]
    found = []
    for view in groups.of_groups(facts, reader):
        of_group, cases = _judged(view.facts, Once(view.reader), threads)
        found.append(of_group)
        listed += [each for each in cases if each.census.measure not in OF_SENDING]
    merged = groups.merged(sending, found)
    merged["marks"] = [*digest.marks(facts.run, listed)]
    merged["examples"] = [*digest.examples(facts.run, listed)]
    return merged, listed


def _judged(facts: Facts, reader: Reader, threads: int, *, of_sending: bool = False) -> _Found:
    """`of_sending`: messages are counted, and not followed to consumers."""
    found: dict[str, list[object]] = {name: [] for name in JUDGED if name not in (LISTED, FAILED)}
    with Threads(threads) as shared:
        run = judging.begin(facts, reader, shared)
        of_time = judging.of_time(run, shared)
        of_messages = judging.of_messages(run, shared, of_sending=of_sending)
        of_cases = judging.of_cases(run, of_messages, shared)
        # One hand works when it is asked: histories are the largest, and are forgotten again.
        tables = [work() for work in of_time]
        tables += [work().rows for work in of_messages]
        tables += [work() for work in of_cases]
        listed = [cases for work in of_messages for cases in work().listed]
    for some in tables:
        for name, listing in some.items():
            found[name] += listing
    return found, listed


class Once:
    """Reads each table once, though several kernels may need it, and at the same time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: dict[type[Records], Records] = {}
        self._reading: dict[type[Records], Lock] = {}
        self._lock = Lock()

    def read(self, kind: type[R]) -> R:
        with self._lock:
            reading = self._reading.setdefault(kind, Lock())
        with reading:
            if kind not in self._read:
                self._read[kind] = self._reader.read(kind)
            return cast(R, self._read[kind])
