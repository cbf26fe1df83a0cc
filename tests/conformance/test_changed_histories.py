"""Relations between a hand-made history and a changed one (tests/rigs/relations): what a change
may do to verdicts is known, whatever the history is.

By day each relation is tried on a few histories; by night each on a share of all of them.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from harness.analyse.history import state
from harness.analyse.questions import question
from tests.rigs.defects.runs import Run, history
from tests.rigs.histories.both_judges import judged_by_both
from tests.rigs.histories.conformance import rows
from tests.rigs.histories.sketches import SketchCase, SketchCases
from tests.rigs.relations.harm import HARM
from tests.rigs.relations.healthy import HEALTHY
from tests.rigs.relations.relation import Relation, judged
from tests.rigs.relations.same import SAME
from tests.rigs.relations.weaker import WEAKER
from tests.rigs.suite.shares import CHUNKS, chunk_of_night

RELATIONS = (*WEAKER, *SAME, *HEALTHY, *HARM)
BY_DAY = 3  # histories of each relation
BOTH_JUDGES = 7  # judge one changed history of so many by the oracle, too


@cache
def hand_made() -> tuple[SketchCase, ...]:
    """Return the cases of every module of this folder, in a mixed order."""
    names = sorted(file.stem for file in Path(__file__).parent.glob("test_*.py"))
    modules = (import_module(f"tests.conformance.{name}") for name in names)
    lists = (getattr(one, "CASES", None) for one in modules)
    cases = [case for one in lists if isinstance(one, SketchCases) for case in one]
    return tuple(Random("hand-made histories").sample(cases, len(cases)))


def changed(relation: Relation, number: int, case: SketchCase) -> tuple[Run, Run | None]:
    run = case.make().as_run()
    return run, relation.change(run, Random(f"{relation} {number}"))


def differences(relation: Relation, number: int, case: SketchCase) -> Iterator[str]:
    run, other = changed(relation, number, case)
    if other is None:
        return
    for line in relation.broken(judged(run), other):
        yield f"{case} ({number}): {line}"


def agreed(run: Run) -> None:
    """Oracle and kernels find the same, or an assertion fails."""
    recorded = history(run)
    judged_by_both(question(state(recorded)).of(recorded.facts), rows(recorded))


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_a_changed_history_keeps_its_relation(relation: Relation) -> None:
    cases = hand_made()
    numbers = iter(Random(f"by day {relation}").sample(range(len(cases)), len(cases)))
    tried = 0
    while tried < BY_DAY:
        number = next(numbers)
        _, other = changed(relation, number, cases[number])
        if other is not None:
            assert [*differences(relation, number, cases[number])] == []
            tried += 1


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_changed_histories_keep_every_relation_by_night(chunk: int) -> None:
    cases = hand_made()
    for number in chunk_of_night(chunk, range(len(cases))):
        run = cases[number].make().as_run()
        before = judged(run)
        for place, relation in enumerate(RELATIONS):
            other = relation.change(run, Random(f"{relation} {number}"))
            if other is None:
                continue
            found = [*relation.broken(before, other)]
            assert found == [], (relation, cases[number], number)
            if (number + place) % BOTH_JUDGES == 0:
                agreed(other)
