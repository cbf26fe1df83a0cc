"""The analysis finds exactly what brokers that keep logs admit, calm and with a crash beside it.

Real servers of the reference of RocketMQ, proxy and workers; what is in each log is read in the
end, and not drained. Rules: harness/analyse/exactness.py.
"""

from collections.abc import Mapping

import pytest

from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import judge_all
from tests.harness.misbehave.runs import classes, perform
from tests.harness.misbehave.scenarios import HONEST, logs_experiment

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

SEED = 22
SHOWS = {
    "drop": "lost",
    "duplicate": "stored_twice",
    "corrupt": "corrupt",
    "rewind": "offset_rollback",
    "half": "rolled_back_but_delivered",
    # The one is in the log of the old master, a slave now; the other in that of the slave.
    "confirm-early": "stranded",
    "truncate": "stranded",
}
LEAST = 5  # a comparison of nothing with nothing would prove nothing
BY_A_CRASH = ("confirm-early", "truncate")  # alone: without a crash they harm no message


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, JudgedRun]:
    """By scenario: `log-drop-calm`, `log-drop-crash`, and so on."""
    folder = tmp_path_factory.mktemp("misbehaving-logs")
    perform((*SHOWS, HONEST), folder, SEED, planned=logs_experiment)
    return {run.manifest.scenario: run for run in judge_all(folder, lambda _: None).runs}


@pytest.mark.parametrize("beside", ["calm", "crash"])
@pytest.mark.parametrize("kind", SHOWS)
def test_analysis_of_logs_finds_exactly_the_admitted_misbehaviour(
    kind: str, beside: str, judged: Mapping[str, JudgedRun]
) -> None:
    found = classes(judged[f"log-{kind}-{beside}"])
    assert [str(each) for each in found.values() if not each.exact] == []
    harmless = beside == "calm" and kind in BY_A_CRASH
    assert (len(found[SHOWS[kind]].found) >= LEAST) is not harmless


@pytest.mark.parametrize("beside", ["calm", "crash"])
def test_analysis_finds_nothing_on_an_honest_cluster(
    beside: str, judged: Mapping[str, JudgedRun]
) -> None:
    found = classes(judged[f"log-{HONEST}-{beside}"])
    assert [str(each) for each in found.values() if not each.exact] == []
