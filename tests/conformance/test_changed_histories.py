"""Relations between a hand-made history and a changed one (tests/rigs/relations): what a change
may do to verdicts is known, whatever the history is.

By day each relation is tried on one history; by night each on a share of all of them.
"""

from functools import cache, lru_cache
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
from tests.rigs.relations.relation import Relation, Verdicts, judged
from tests.rigs.relations.same import SAME
from tests.rigs.relations.weaker import WEAKER
from tests.rigs.suite.shares import CHUNKS, chunk_of_night

RELATIONS = (*WEAKER, *SAME, *HEALTHY, *HARM)
FIRST = 12  # by day relations begin at one of so many histories
BOTH_JUDGES = 7  # judge one changed history of so many by the oracle, too


@cache
def hand_made() -> tuple[SketchCase, ...]:
    """Return the cases of every module of this folder, in a mixed order."""
    names = sorted(file.stem for file in Path(__file__).parent.glob("test_*.py"))
    modules = (import_module(f"tests.conformance.{name}") for name in names)
    lists = (getattr(one, "CASES", None) for one in modules)
    cases = [case for one in lists if isinstance(one, SketchCases) for case in one]
    return tuple(Random("hand-made histories").sample(cases, len(cases)))


@lru_cache(maxsize=4 * FIRST)
def before(number: int) -> tuple[Run, Verdicts]:
    run = hand_made()[number].make().as_run()
    return run, judged(run)


def changed(relation: Relation, number: int) -> Run | None:
    return relation.change(before(number)[0], Random(f"{relation} {number}"))


def agreed(run: Run) -> None:
    """Oracle and kernels find the same, or an assertion fails."""
    recorded = history(run)
    judged_by_both(question(state(recorded)).of(recorded.facts), rows(recorded))


@pytest.mark.parametrize("place", range(len(RELATIONS)), ids=lambda it: str(RELATIONS[it]))
def test_a_changed_history_keeps_its_relation(place: int) -> None:
    relation = RELATIONS[place]
    for number in range(place % FIRST, len(hand_made())):
        if (other := changed(relation, number)) is not None:
            found = [*relation.broken(before(number)[1], other)]
            assert found == [], (hand_made()[number], number)
            return
    raise AssertionError("no history can be changed so")


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_changed_histories_keep_every_relation_by_night(chunk: int) -> None:
    for number in chunk_of_night(chunk, range(len(hand_made()))):
        for place, relation in enumerate(RELATIONS):
            if (other := changed(relation, number)) is None:
                continue
            found = [*relation.broken(before(number)[1], other)]
            assert found == [], (relation, hand_made()[number], number)
            if (number + place) % BOTH_JUDGES == 0:
                agreed(other)
