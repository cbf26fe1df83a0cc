"""docs/architecture.md, "The path of a claim": its calls are those of a run, and few.

A recorded run is played from the command line to the count of `lost`. Only the cluster and Spark
are replaced.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import Marts, judge_one
from harness.claims.counted import Counted
from harness.claims.judge import judge
from harness.cli import main
from harness.commands.run import run
from harness.pipeline import stored
from harness.pipeline.performing import Performing
from tests.unlucky.damage import recorded

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
OURS = tuple(f"{ROOT / name}/" for name in ("harness", "faults", "spark_analysis"))
CALLS_MAX = 8


@pytest.fixture
def ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, ...]]:
    """The calls from the command to a claim's count of `lost`, as they were in a run."""
    found: set[tuple[str, ...]] = set()
    loss = Counted._loss

    async def perform(self: Performing) -> None:
        for plan in self.experiment.runs:
            recorded(self.folder / "runs" / plan.name)

    def judge_all(folder: Path, *_: object) -> Marts:
        runs = [judge_one(path) for path in (folder / "runs").iterdir()]
        return Marts(tuple(one for one in runs if isinstance(one, JudgedRun)), (), {})

    def leaf(self: Counted, measure: str, *rest: Any) -> Any:
        way = (*reversed(tuple(callers(sys._getframe(1)))), named(loss))
        if measure == "lost" and named(judge) in way:
            found.add(way)
        return loss(self, measure, *rest)

    monkeypatch.setattr(Performing, "perform", perform)
    monkeypatch.setattr(stored, "judge_all", judge_all)
    monkeypatch.setattr(Counted, "_loss", leaf)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "master-crash", "--results", str(tmp_path)]) == 1, "one message is lost"
    return found


def callers(frame: FrameType | None) -> Iterator[str]:
    """Our functions from this frame outwards, up to the command's. A comprehension is none."""
    while frame is not None and frame.f_code is not run.__code__:
        if frame.f_code.co_filename.startswith(OURS) and not frame.f_code.co_name.startswith("<"):
            yield named(frame)
        frame = frame.f_back
    assert frame is not None, "the command did not call it"
    yield named(run)


def named(function: Any) -> str:
    code = function.f_code if isinstance(function, FrameType) else function.__code__
    return f"{Path(code.co_filename).relative_to(ROOT)} {code.co_qualname}"


def of_page() -> tuple[str, ...]:
    section = PAGE.read_text("utf-8").partition("### From the command to the count\n")[2]
    steps = re.findall(r"^\d\. `([\w/]+\.py)` `([\w.]+)`", section.partition("\n## ")[0], re.M)
    return tuple(f"{path} {name}" for path, name in steps)


def test_a_claim_is_few_calls_away_from_the_command(ways: set[tuple[str, ...]]) -> None:
    assert ways == {of_page()}
    assert len(of_page()) <= CALLS_MAX
