"""The analysis finds exactly what a misbehaving cluster admits, calm and with a crash beside it.

Real nodes, proxy and workers; every kind with a random draw has a cluster of its own for
two short runs, and Spark judges all of them at once. Rules: harness/analyse/exactness.py.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import judge_all
from harness.plan.misbehave import DRAWN
from tests.harness.misbehave.runs import classes, perform
from tests.harness.misbehave.scenarios import BY_TWO_DELIVERIES, HONEST

pytestmark = [pytest.mark.slow, pytest.mark.long]

SEED = 20
REPEATS = 10  # two runs each
BY_DAY = {"drop", "redeliver"}  # one is found by missing messages, the other by deliveries

# What each kind shows as in its calm run and beside the crash, and how much of it there has to be
# at least: a comparison of nothing with nothing would prove nothing.
SHOWS: dict[str, tuple[str, int, int]] = {
    "drop": ("lost", 5, 5),
    "duplicate": ("stored_twice", 5, 5),
    "reorder": ("reordered", 5, 5),
    "corrupt": ("corrupt", 5, 5),
    "confirm-early": ("lost", 0, 1),
    "forget": ("lost", 1, 1),
    "redeliver": ("redelivery_after_ack", 5, 5),
}


def mostly_by_night(kinds: Iterable[str]) -> list[Any]:
    by_night = pytest.mark.nightly
    return [kind if kind in BY_DAY else pytest.param(kind, marks=by_night) for kind in kinds]


@pytest.fixture(scope="module")
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, JudgedRun]:
    """By scenario: `drop-calm`, `drop-crash`, and so on; of the kinds that tests ask for."""
    folder = tmp_path_factory.mktemp("misbehaving")
    wanted = {
        item.callspec.params.get("kind")
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path
        if hasattr(item, "callspec")
    }
    perform([kind for kind in DRAWN if kind in wanted], folder, SEED)
    return {run.manifest.scenario: run for run in judge_all(folder, lambda _: None).runs}


@pytest.mark.parametrize("beside", ["calm", "crash"])
@pytest.mark.parametrize("kind", mostly_by_night(DRAWN))
def test_analysis_finds_exactly_what_the_reference_admits(
    kind: str, beside: str, judged: Mapping[str, JudgedRun]
) -> None:
    found = classes(judged[f"{kind}-{beside}"])
    assert [str(each) for each in found.values() if not each.exact] == []
    what, calm_min, crash_min = SHOWS[kind]
    assert len(found[what].found) >= (calm_min if beside == "calm" else crash_min)


@pytest.mark.parametrize("kind", mostly_by_night(BY_TWO_DELIVERIES))
def test_crash_hides_nothing_before_it_or_after_its_end(
    kind: str, judged: Mapping[str, JudgedRun]
) -> None:
    run = judged[f"{kind}-crash"]
    (window,) = run.facts.windows
    assert window.over_ns is not None
    at_ns = [row.at_ns for row in run.findings.affected if row.detail == SHOWS[kind][0]]
    assert sum(at <= window.origin_ns for at in at_ns) >= 5
    assert sum(at > window.over_ns for at in at_ns) >= 5


@pytest.mark.nightly
def test_in_twenty_honest_runs_nothing_is_found(tmp_path: Path) -> None:
    perform((HONEST,), tmp_path, SEED, REPEATS)
    runs = judge_all(tmp_path, lambda _: None).runs
    assert len(runs) == 2 * REPEATS
    for run in runs:
        assert [str(each) for each in classes(run).values() if not each.exact] == []
        assert not (run.folder / "truth").exists()
