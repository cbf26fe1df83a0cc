"""verdict.json: what is written is what is read."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.compare.loads import played
from harness.judging import verdict_file
from harness.plan.problems import PlanError
from harness.report import verdict
from tests.rigs.runs.judged_runs import crash, judged_run, page_of


def test_written_runs_are_read_back_as_the_same_values(tmp_path: Path) -> None:
    report = page_of(judged_run(tmp_path / "run", crash(lost=[30])))
    made, found = verdict.file_of(report), verdict_file.read(verdict.write(report, tmp_path))
    (before,), (after,) = made.runs, found.runs
    assert before.summary is not None
    assert after.summary == replace(before.summary, by_strength=())
    assert (after.claims, after.cost, after.cell) == (before.claims, before.cost, before.cell)
    assert after.load == before.load
    assert (after.lost, after.broken, after.out) == (True, True, before.out)
    assert (found.versions, found.exit_code) == (made.versions, made.exit_code)


def test_load_of_a_run_is_that_of_its_scenario(tmp_path: Path) -> None:
    report = page_of(judged_run(tmp_path / "run", crash()))
    source = '[workload]\nrate = 300\nqueues = ["a", "b"]\n[workload.rocketmq]\ntags = 2\n'
    (run,) = report.runs
    report = replace(report, runs=(replace(run, load=played(source)),))
    load = verdict_file.read(verdict.write(report, tmp_path)).runs[0].load
    assert load is not None
    assert load.settings == {"queues": "a, b", "rate": 300, "rocketmq.tags": 2}
    assert load.digest == hashlib.sha256(source.encode()).hexdigest()


def test_unreadable_scenario_has_an_unknown_load() -> None:
    assert [played(text) for text in ("[workload", "workload = 3", "")] == [None] * 3


def test_the_images_of_many_versions_are_read_back(tmp_path: Path) -> None:
    images = "; ".join(f"mqproof/rabbitmq:{one}-{'a' * 12} sha256:{'b' * 64}" for one in range(9))
    report = page_of(judged_run(tmp_path / "run", crash()))
    report = replace(report, versions={"broker image": images})
    assert verdict_file.read(verdict.write(report, tmp_path)).versions["broker image"] == images


def test_a_file_without_the_unread_parts_can_be_read(tmp_path: Path) -> None:
    document = json.loads(verdict.text(page_of(judged_run(tmp_path / "run", crash()))))
    for key in ("cells", "places", "comparison", "skipped", "pieces"):
        del document[key]
    for key in ("observations", "faults", "operations", "notes", "failing"):
        del document["runs"][0][key]
    path = tmp_path / "verdict.json"
    path.write_text(json.dumps(document))
    assert verdict_file.read(path).runs[0].faults == ()


@pytest.mark.parametrize("key", ["format", "version", "experiment", "seed", "versions", "runs"])
def test_a_file_without_a_key_that_is_read_is_bad_input(tmp_path: Path, key: str) -> None:
    document = json.loads(verdict.text(page_of(judged_run(tmp_path / "run", crash()))))
    del document[key]
    path = tmp_path / "verdict.json"
    path.write_text(json.dumps(document))
    with pytest.raises(PlanError, match=rf"verdict\.json, {key}: is missing"):
        verdict_file.read(path)


def test_a_file_without_runs_is_bad_input(tmp_path: Path) -> None:
    document = json.loads(verdict.text(page_of(judged_run(tmp_path / "run", crash()))))
    path = tmp_path / "verdict.json"
    path.write_text(json.dumps({**document, "runs": []}))
    with pytest.raises(PlanError, match=r"runs: must have 1 entries at least, not 0"):
        verdict_file.read(path)
