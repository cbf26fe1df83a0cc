"""A cluster that guards its confirms as RabbitMQ does loses, when its master is cut off, what it
admits and nothing else; the same cluster with its own guard loses nothing
(results/published/2026-11-23-pause-minority.md).

Two runs each: on a machine that is busy enough a publisher may still be dialling when its host
gives its peers up, and then has nothing out.
"""

import pytest

from harness.analyse.admitted import read
from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import judge_all
from harness.plan.misbehave import TRUTH
from tests.harness.misbehave.runs import classes, perform
from tests.harness.misbehave.scenarios import HONEST, cut_off_experiment

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

STALE_GUARD = "stale-guard"
SEED, REPEATS = 21, 2


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[JudgedRun, ...]:
    folder = tmp_path_factory.mktemp("guarding")
    perform((STALE_GUARD, HONEST), folder, SEED, REPEATS, cut_off_experiment)
    return tuple(judge_all(folder, lambda _: None).runs)


def of(kind: str, judged: tuple[JudgedRun, ...]) -> list[JudgedRun]:
    runs = [run for run in judged if run.manifest.scenario == f"{kind}-cut"]
    assert len(runs) == REPEATS
    return runs


def admitting(run: JudgedRun) -> set[str]:
    """The nodes that admit that they let a confirm out."""
    logs = (run.folder / TRUTH).glob("*.jsonl")
    return {log.stem for log in logs if b'"kind":"stale-guard"' in log.read_bytes()}


def test_exactly_the_messages_a_stale_guard_admits_are_lost(judged: tuple[JudgedRun, ...]) -> None:
    lost = 0
    for run in of(STALE_GUARD, judged):
        found = classes(run)
        assert [str(each) for each in found.values() if not each.exact] == []
        assert found["lost"].must == found["lost"].found, "the truth proves all of them"
        lost += len(found["lost"].found)
    assert lost > 0


def test_only_the_node_that_was_cut_off_lets_confirms_out(judged: tuple[JudgedRun, ...]) -> None:
    runs = of(STALE_GUARD, judged)
    for run in runs:
        assert admitting(run) <= {one.places for one in run.manifest.targets}
    assert any(map(admitting, runs))


def test_the_references_own_guard_loses_nothing_in_the_same_cut(
    judged: tuple[JudgedRun, ...],
) -> None:
    for run in of(HONEST, judged):
        found = classes(run)
        assert [str(each) for each in found.values() if not each.exact] == []
        assert found["lost"].found == frozenset()
        assert read(run.folder, run.manifest.run_number) == ()
