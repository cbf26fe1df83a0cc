"""What both judges say of many histories, asked once, before anything is mutated.

1. The histories are those of all stories in tests/spark_analysis/definition, and the fixed ones.
2. A mutant is held against the answers and not against the other judge, so that a mutant of each
   dies on the other. The kernels refuse records that no worker writes: that is their answer then.
3. Small histories come first, and before all others those that show something not shown before.
"""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from spark_analysis.definition.judge import judge
from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from tests import both_judges
from tests.both_judges import Answer, Columns, by_kernels, listed, raw_columns
from tests.fixed_histories import fixed_histories
from tests.generated_histories import Rows
from tests.spark_analysis.engine.test_agreement import words_of

STORIES = "tests/spark_analysis/definition"


@dataclass(frozen=True, slots=True)
class Answered:
    """A history, its raw columns, and what the definition and the kernels must say of it."""

    origin: str  # "story" or "generated"
    facts: Facts
    rows: Rows
    columns: Columns
    answer: Answer
    is_refused: bool  # by the kernels
    words: frozenset[object]


def answered() -> list[Answered]:
    stories = [_answered("story", *each) for each in _told()]
    generated = [_answered("generated", *each) for each in fixed_histories()]
    return list(_telling_first(sorted([*stories, *generated], key=_size)))


def objection(judge: str, histories: Iterable[Answered]) -> str:
    """The origin of the first history on which this judge, as it is now, answers otherwise."""
    from spark_analysis.definition.judge import judge as by_definition
    from spark_analysis.engine.kernel.records import BadRecords
    from tests.both_judges import by_kernels, listed

    for each in histories:
        try:
            if judge == "definition":
                agrees = listed(by_definition(each.facts, each.rows)) == each.answer
            else:
                agrees = by_kernels(each.facts, each.columns) == each.answer
        except BadRecords:
            agrees = each.is_refused
        except Exception as error:
            return f"{each.origin}: {error!r}"
        if not agrees:
            return each.origin
    return ""


def _told() -> list[tuple[Facts, Rows]]:
    """Every history that a story is about; most stories go on with theirs, so it is copied."""
    told: list[bytes] = []

    def listening(facts: Facts, rows: Rows) -> Findings:
        told.append(pickle.dumps((facts, rows)))
        return judge(facts, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(both_judges, "judge", listening)
        assert pytest.main(["-q", "-p", "no:cacheprovider", STORIES]) == 0
    return [pickle.loads(each) for each in dict.fromkeys(told)]


def _answered(origin: str, facts: Facts, rows: Rows) -> Answered:
    findings, columns = judge(facts, rows), raw_columns(rows)
    try:
        by_kernels(facts, columns)
        is_refused = False
    except BadRecords:
        is_refused = True
    words = frozenset(words_of(findings))
    return Answered(origin, facts, rows, columns, listed(findings), is_refused, words)


def _size(each: Answered) -> int:
    return sum(map(len, each.rows.values()))


def _telling_first(histories: list[Answered]) -> Iterator[Answered]:
    seen: set[object] = set()
    rest = []
    for each in histories:
        if each.words <= seen:
            rest.append(each)
        else:
            seen |= each.words
            yield each
    yield from rest
