"""What clients saw while a queue was synchronised."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.analyse.operated import LEFT, STILL, ClientValue, client_state
from harness.run_folder.operations import OperationRecord
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.words import Via
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.steady_loads import loaded, steady
from tests.rigs.runs.findings import Story
from tests.rigs.runs.manifests import manifest
from tests.rigs.runs.run_folders import write_run

CALM = Story().steady()


def stood_still(
    tmp_path: Path,
    *silent_ms: tuple[float, float],
    history: History | None = None,
    began_ms: float = 10_000,
    returned_ms: float = 14_000,
    findings: Findings | None = None,
    ok: bool = True,
) -> ClientValue:
    """Whether a queue did that in an operation of 4 s; confirms came every 20 ms but then."""
    facts, rows = steady(history or loaded(), *silent_ms).build()
    folder = write_run(tmp_path / "run", facts, rows)
    made = manifest()
    made.operations = [
        OperationRecord(1, "synchronise", "orders", "x.orders", ns(began_ms), ns(returned_ms), ok)
    ]
    return client_state(folder, made, facts, findings or CALM.findings)[STILL]


def test_queue_silent_for_most_of_the_operation_stands_still(tmp_path: Path) -> None:
    assert stood_still(tmp_path, (10_100, 13_500)) is True


@pytest.mark.parametrize(("until_ms", "still"), [(11_950, False), (12_050, True)])
def test_half_of_the_time_is_the_least(tmp_path: Path, until_ms: float, still: bool) -> None:
    assert stood_still(tmp_path, (10_000, until_ms)) is still


def test_a_queue_that_goes_on_does_not_stand_still(tmp_path: Path) -> None:
    assert stood_still(tmp_path) is False


def test_a_queue_that_delivers_does_not_stand_still(tmp_path: Path) -> None:
    history = loaded().worker(7, "consumer")
    for second in range(10, 14):
        history.deliver(second, at_ms=second * 1_000 + 500)
    assert stood_still(tmp_path, (10_100, 13_500), history=history) is False


def test_a_synchronisation_within_a_second_is_not_applicable(tmp_path: Path) -> None:
    assert stood_still(tmp_path, (10_000, 10_900), returned_ms=10_999) == {
        "not_applicable": "what was synchronised took no second"
    }


def test_failed_or_faulted_operation_gives_no_silence_result(tmp_path: Path) -> None:
    assert stood_still(tmp_path / "failed", (10_100, 13_500), ok=False) is None
    faulty = loaded().window(13_000, ended_ms=15_000)
    assert stood_still(tmp_path / "faulty", (10_100, 13_500), history=faulty) is None
    after = loaded().window(14_000, ended_ms=15_000)
    assert stood_still(tmp_path / "after", (10_100, 13_500), history=after) is True


@pytest.mark.parametrize(("at_ms", "still"), [(12_000, None), (9_900, True), (15_000, True)])
def test_a_stall_of_mqproof_is_no_silence_of_the_queue(
    tmp_path: Path, at_ms: float, still: bool | None
) -> None:
    late = Doubt("run", "availability", 0, "stalled", "", 1, ns(at_ms), ns(200))
    findings = replace(CALM.findings, doubts=(late,))
    assert stood_still(tmp_path, (10_100, 13_500), findings=findings) is still


def test_messages_left_to_the_drain_are_counted(tmp_path: Path) -> None:
    history = loaded().publish(9_000).deliver(9_000, via=Via.DRAIN).deliver(9_001, via=Via.DRAIN)
    facts, rows = steady(history).build()
    folder = write_run(tmp_path / "run", facts, rows)
    assert client_state(folder, manifest(), facts, CALM.findings)[LEFT] == 2


def test_a_run_without_such_an_operation_says_so(tmp_path: Path) -> None:
    facts: Facts = CALM.facts
    assert client_state(tmp_path, manifest(), facts, CALM.findings)[STILL] == {
        "not_applicable": "no queue was synchronised by an operator"
    }
