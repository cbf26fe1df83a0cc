"""Damaged folders by the hundred: whatever was changed, no verdict is another one for it.

1. A damaged run is judged as the whole one is, or with less certainty, or not at all: never is
   there a PASS or a FAIL that the whole one has not.
2. It is never a fault of ours.
3. What was forged under a digest that fits may be judged otherwise; a fault of ours it is not.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import pytest

from harness.analyse.marts import judge_one
from harness.claims import claims
from harness.claims.judge import ClaimVerdict
from harness.judging.exits import Exit, Judge
from harness.pipeline import stages
from spark_analysis.files.failed import Failed
from tests.rigs.runs.displays import Heard
from tests.rigs.runs.judged_runs import report_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.stored import stored
from tests.unlucky.damage import Damage, forged, of_logs, recorded, spoiled

Draw = Callable[[Random, Path, Path], Damage]
Verdicts = Mapping[str, str]
KINDS: dict[str, tuple[Draw, bool]] = {  # and whether the run was sealed before
    "spoiled": (spoiled, True),
    "forged": (forged, True),
    "logs of a sealed run": (of_logs, True),
    "logs of an unsealed run": (of_logs, False),
}
FEW, MANY = 20, 300
SHIPPED = claims.shipped()


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_causes_a_verdict_or_an_internal_error(kind: str, tmp_path: Path) -> None:
    counts = counted(kind, FEW, 1, tmp_path)
    assert counts["not judged"] > 0 or kind == "logs of a sealed run"


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_of_many_is_a_verdict(kind: str, tmp_path: Path) -> None:
    print(f"{kind}: {dict(counted(kind, MANY, 2, tmp_path))}")


@pytest.mark.nightly
def test_complete_runs_beside_damaged_ones_are_judged(tmp_path: Path) -> None:
    """Through Spark, all in one report: every third run is whole."""
    names = [f"run-{number}" for number in range(MANY + MANY // 2)]
    folder = stored(tmp_path / "e", [(name, CELL) for name in names])
    other = recorded(tmp_path / "other" / "runs" / "one", lost=77)
    broken: dict[str, str] = {}
    for number, name in enumerate(names):
        run = recorded(folder / "runs" / name)
        if number % 3:
            damage = spoiled(Random(f"3/{number}"), run, other)
            damage.change(run)
            broken[name] = f"{damage.kind}: {damage.what}"
    made = stages.analyse([folder], folder, Judge.CLAIMS, Heard())
    by_name = {run.name: of(run.verdicts) for run in made.runs}
    wanted = by_name[names[0]]
    assert wanted
    assert "FAIL" in wanted.values()
    assert made.exit_code != Exit.CRASH
    for name in names:
        if name in broken:
            assert differs(by_name[name], wanted) in ("the same", "not judged"), broken[name]
        else:
            assert by_name[name] == wanted
    print(Counter(differs(by_name[name], wanted) for name in broken))


def counted(kind: str, number: int, seed: int, place: Path) -> Counter[str]:
    """How so many damaged runs are judged; fails where one is judged otherwise."""
    draw, sealed = KINDS[kind]
    run = recorded(place / "base" / "runs" / "one", sealed=sealed)
    other = recorded(place / "base" / "runs" / "other", sealed=sealed, lost=77)
    wanted = judged(copied(run, place / "whole"))
    assert "FAIL" in wanted.values()
    counts: Counter[str] = Counter()
    for each in range(number):
        damage = draw(Random(f"{seed}/{each}"), run, other)
        folder = copied(run, place / str(each))
        damage.change(folder)
        how = differs(judged(folder), wanted)
        assert how != "another" or draw is forged, f"{seed}/{each}: {damage.kind}: {damage.what}"
        counts[how] += 1
        shutil.rmtree(place / str(each))
    return counts


def copied(run: Path, place: Path) -> Path:
    shutil.copytree(run, place / "runs" / run.name)
    return place / "runs" / run.name


def judged(folder: Path) -> Verdicts:
    """Without Spark; none where it is not judged. An unforeseen error fails the test."""
    run = judge_one(folder)
    if isinstance(run, Failed):
        assert run.trace == "", run.trace
        assert str(folder) in run.reason
        return {}
    return of(report_of(run, SHIPPED).verdicts)


def of(verdicts: tuple[ClaimVerdict, ...]) -> Verdicts:
    return {one.claim: one.outcome.value for one in verdicts}


def differs(found: Verdicts, wanted: Verdicts) -> str:
    if not found:
        return "not judged"
    other = {found[claim] for claim in wanted if found[claim] != wanted[claim]}
    if not other:
        return "the same"
    return "another" if other & {"PASS", "FAIL"} else "less certain"
