"""Runs kept over sessions: of experiments, and of CSV files."""

import csv
import json
from pathlib import Path

import pytest

from harness.campaigns.stored import as_csv, found
from harness.claims.judge import ClaimOutcome
from harness.plan.model import cell_of
from harness.plan.problems import PlanError
from tests.harness.campaigns.judged import run, verdict_file
from tests.rigs.runs.stored import stored

PUBLISHED = Path(__file__).parents[3] / "results" / "published"


def test_runs_of_an_experiment_survive_a_csv_round_trip(tmp_path: Path) -> None:
    verdict_file(tmp_path, "20261122-000000-aaaa")
    (one,) = found(tmp_path)
    assert one.outcomes == {
        "confirmed-is-delivered": ClaimOutcome.PASS,
        "mirror-failure-affects-own-clients": ClaimOutcome.FAIL,
        "mirror-takes-over": ClaimOutcome.NOT_APPLICABLE,
    }
    assert one.reasons == {"mirror-failure-affects-own-clients": "missed == 0, found 9"}
    (tmp_path / "earlier.csv").write_text(as_csv([one, run(confirmed_per_s=12.5)]))
    assert found(tmp_path) == [run(confirmed_per_s=12.5), one]  # each once


def test_each_run_reports_the_version_of_its_own_brokers(tmp_path: Path) -> None:
    """An experiment records those of all its systems together."""
    verdict_file(tmp_path, "a")
    path = tmp_path / "a" / "verdict.json"
    document = json.loads(path.read_text())
    document["versions"] = {"rabbitmq": "3.10.8", "rocketmq": "4.9.7", "pika": "1.4.4"}
    (run,) = document["runs"]
    systems = ("rabbitmq-mirrored", "rocketmq-2m2s", "of-no-package")
    document["runs"] = [
        {**run, "name": each, "cell": run["cell"] | {"system": each}} for each in systems
    ]
    path.write_text(json.dumps(document))
    assert {one.system: one.broker for one in found(tmp_path)} == {
        "rabbitmq-mirrored": "3.10.8",
        "rocketmq-2m2s": "4.9.7",
        "of-no-package": "",
    }


@pytest.mark.parametrize("recorded", [{"broker_version": "4.2.0"}, {}])
def test_the_metadata_store_is_no_version_of_a_broker(
    tmp_path: Path, recorded: dict[str, str]
) -> None:
    verdict_file(tmp_path, "a")
    path = tmp_path / "a" / "verdict.json"
    document = json.loads(path.read_text())
    document["runs"][0] |= {"brokers": "rabbitmq 4.2.0, metadata in khepri", **recorded}
    path.write_text(json.dumps(document))
    assert [one.broker for one in found(tmp_path)] == ["4.2.0"]


def test_an_unrecorded_version_is_not_shown(tmp_path: Path) -> None:
    verdict_file(tmp_path, "a")
    path = tmp_path / "a" / "verdict.json"
    path.write_text(path.read_text().replace('"3.10.8"', '"1"').replace('"rabbitmq"', '"erlang"'))
    assert [one.broker for one in found(tmp_path)] == [""]


def test_published_runs_are_collected_into_their_identical_source_file() -> None:
    kept = (PUBLISHED / "matrix.csv").read_text(encoding="utf-8")
    assert as_csv(found(PUBLISHED)) == kept


def test_experiment_without_a_verdict_has_runs_with_unknown_results(
    tmp_path: Path,
) -> None:
    stored(tmp_path / "20261122-000000-aaaa", [("mirror-crash-1-beef", cell_of(run()))])
    (one,) = found(tmp_path)
    assert (cell_of(one), one.outcomes) == (cell_of(run()), {})


def test_a_report_over_several_experiments_counts_no_run_again(tmp_path: Path) -> None:
    verdict_file(tmp_path, "20261122-000000-aaaa")
    verdict_file(tmp_path, "20261122-000001-merged", seed=None)
    assert [one.experiment for one in found(tmp_path)] == ["20261122-000000-aaaa"]


def test_a_csv_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "values.csv").open("w", newline="") as out:
        csv.writer(out).writerows([("experiment", "value"), ("e", "1")])
    assert found(tmp_path) == []


def test_run_replays_by_its_experiments_seed_and_needed_repeats() -> None:
    words = "mqproof run mirror-crash --system rabbitmq-mirrored --layout all-automatic@T=10"
    words += " --client pika --deployment compose"
    assert run().replay == f"{words} --seed 7"
    assert run(repeat=3).replay == f"{words} --repeats 3 --seed 7"


def test_every_unreadable_file_is_reported_with_its_place(tmp_path: Path) -> None:
    verdict_file(tmp_path, "a")
    path = tmp_path / "a" / "verdict.json"
    broken = json.loads(path.read_text())
    broken["runs"][0]["claims"][0]["outcome"] = "MAYBE"
    del broken["runs"][0]["cell"]["client"]
    path.write_text(json.dumps(broken))
    for name, text in (("b", "{"), ("c", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "verdict.json").write_text(text)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "experiment.json").write_text("null")
    rows = as_csv([run(), run(run="r-2"), run(run="r-3"), run(run="r-4")]).splitlines()
    rows[1] = rows[1].replace(",7,", ",seven,", 1)
    rows[2] = rows[2].rpartition(",")[0]
    rows[3] = rows[3].removesuffix(",,") + ",[1],"
    (tmp_path / "e.csv").write_text("\n".join(rows))
    (tmp_path / "f.csv").write_bytes(b"\xff\n")
    with pytest.raises(PlanError) as raised:
        found(tmp_path)
    lines = str(raised.value).splitlines()
    assert [one.replace(str(tmp_path), "").partition(": ")[0] for one in lines] == [
        "/e.csv, line 2",
        "/e.csv, line 3",
        "/e.csv, line 4",
        "/f.csv",
        "/a/verdict.json, runs.0.cell.client",
        "/a/verdict.json, runs.0.claims.0.outcome",
        "/b/verdict.json",
        "/c/verdict.json",
        "FOLDER",
    ]
