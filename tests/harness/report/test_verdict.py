"""verdict.json: everything that a report says, for machines."""

import json
from pathlib import Path
from typing import Any

from harness.judging import verdict_file
from harness.judging.assemble import compare
from harness.judging.result import Report
from harness.report import verdict
from spark_analysis.schema.service import NEVER
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import KNOWN, page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED, compared, report, run


def written(of: Report) -> Any:
    return json.loads(verdict.text(of))


NEVER_BACK = {
    "median_s": 33.0,
    "median_reached": False,
    "median_interval_s": [0.0, None],
    "maximum_s": 33.0,
    "bound": True,
    "runs": 1,
}


def test_the_verdict_has_the_replay_command_and_every_run(tmp_path: Path) -> None:
    made = report(run(Story()), skipped=(SKIPPED,), comparison=(compared(CELL, "silence", 171e6),))
    path = verdict.write(made, tmp_path)
    document = json.loads(path.read_text())
    assert (document["format"], document["version"]) == ("mqproof verdict", 2)
    assert (document["experiment"], document["seed"], document["exit_code"]) == ("e", 7, 0)
    assert document["replay"] == "mqproof run master-crash --seed 7"
    assert document["versions"] == {"pika": "1.4.4", "rabbitmq": "3.10.8"}
    (one,) = document["runs"]
    assert one["cell"] == {
        "scenario": "master-crash",
        "system": "rabbitmq-mirrored",
        "layout": "all-automatic@T=10",
        "client": "pika",
    }
    outcomes = {claim["claim"]: claim["outcome"] for claim in one["claims"]}
    assert outcomes["unnotified-consumer-waits-forever"] == "FAIL"
    assert outcomes["election-loses-nothing"] == "PASS"
    assert "expected in this cell" in next(
        claim["line"] for claim in one["claims"] if claim["outcome"] == "FAIL"
    )
    assert {"name": "lost", "window": 0, "judged": True, "text": "lost 0 of 21,400"} in one[
        "observations"
    ]
    assert document["cells"][0]["standing"] == "as expected"
    assert document["skipped"][0]["reason"] == "no mirror"
    assert document["comparison"][0]["measure"] == "silence"
    assert [item.name for item in tmp_path.iterdir()] == ["verdict.json"]


def test_doubts_and_failures_are_in_it() -> None:
    story = Story().unverified("not verified active: the process runs")
    document = written(report(run(story), run(story, "b", verdicts=(), failure="lost")))
    assert document["exit_code"] == 2
    assert document["runs"][0]["doubts"] == ["fault 1: not verified active: the process runs"]
    assert document["runs"][1]["judged"] is False
    assert document["runs"][1]["failure"] == "lost"


def test_every_place_summarises_its_runs_in_total_and_by_scenario() -> None:
    lost = Story().count("lost", "replicated", 37).outage(27, 60, NEVER)
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    runs = (
        summed(lost),
        summed(stalled, repeat=2),
        summed(Story(), cell=("cut-one-node", *CELL[1:])),
        summed(Story(), cell=OTHER),
    )
    first, second = written(page_of(*runs))["places"]
    assert (first["layout"], second["layout"]) == (CELL[2], OTHER[2])
    assert list(first)[:4] == ["system", "layout", "client", "runs"]
    assert (first["runs"], first["judged"], first["confirmed"]) == (3, 3, 64_200)
    assert (first["lost"], first["stranded"], first["undecided_messages"]) == (37, 0, 0)
    assert (first["loss_decided_runs"], first["outage_decided_runs"]) == (3, 2)
    (replicated,) = first["by_strength"]
    assert (replicated["confirmed"], replicated["lost"]) == (64_200, 37)
    crash, cut = first["scenarios"]
    assert (crash["scenario"], crash["runs"]) == ("master-crash", 2)
    assert crash["total_downtime"] == NEVER_BACK
    assert (crash["downtime_runs"], crash["worst_downtime_scope"]) == (1, None)
    assert cut["late"] == {"missed": 12, "operations": 4_500, "runs": 1}


def test_a_layout_with_unknown_downtime_has_no_number() -> None:
    stalled = Story().silence(0.1).doubt("availability", "stalled", window=1, worker=1)
    (place,) = written(page_of(summed(stalled)))["places"]
    assert (place["total_downtime"], place["silence"]) == (None, None)
    assert place["degraded"]["maximum_s"] == 0  # a stall only lengthens
    assert place["late"]["runs"] == 0


def test_every_run_says_alone_what_places_say_of_many() -> None:
    lost = Story().count("lost", "replicated", 37).count("duplicated", "redelivery", 4)
    first, second = written(
        page_of(summed(lost.outage(27, 60, NEVER)), run(Story(), "b", verdicts=()))
    )["runs"]
    summary = first["summary"]
    assert (summary["confirmed"], summary["lost"], summary["loss_decided_runs"]) == (21_400, 37, 1)
    assert summary["total_downtime"] == NEVER_BACK
    assert summary["duplicates"] == {"redelivery": 4}
    assert second["summary"] is None


def test_every_cell_counts_the_violating_runs_of_each_claim() -> None:
    lossy = summed(Story().count("lost", "stored", 3), repeat=3)
    doubtful = summed(Story().unverified("the process runs"), repeat=4)
    made = page_of(summed(Story()), summed(Story(), repeat=2), lossy, doubtful)
    (cell,) = written(made)["cells"]
    stays = cell["claims"]["confirmed-stays"]
    assert (stays["runs"], stays["violated"], stays["not_judged"]) == (3, 1, 1)
    assert [round(end, 4) for end in stays["rate"]] == [0.0084, 0.9057]
    assert cell["loss"]["violated"] == 1
    assert (cell["runs"], cell["not_judged"], cell["mostly_not_judged"]) == (4, 1, True)
    assert cell["claims"]["survives-hangs"]["runs"] == 0  # it applies to no run here


def test_a_cell_without_expectations_has_its_rates() -> None:
    own = ("mine", *CELL[1:])
    lossy = summed(Story().count("lost", "stored", 3), cell=own)
    runs = (summed(Story()), lossy, run(Story(), "b", cell=own, verdicts=(), failure="no cluster"))
    first, second = written(page_of(*runs, cells=compare(runs[:1], KNOWN)))["cells"]
    assert (first["standing"], second["standing"]) == ("as expected", "not compared")
    assert (second["cell"]["scenario"], second["lines"], second["known"]) == ("mine", [], {})
    assert (second["runs"], second["not_judged"], second["loss"]["violated"]) == (2, 1, 1)
    assert second["claims"]["confirmed-stays"]["violated"] == 1
    assert first["known"]


def test_run_without_verdicts_is_counted_as_not_judged() -> None:
    made = page_of(summed(Story()), run(Story(), "b", verdicts=(), failure="no cluster"))
    (cell,) = written(made)["cells"]
    stays = cell["claims"]["confirmed-stays"]
    assert (stays["runs"], stays["violated"], stays["not_judged"]) == (1, 0, 1)
    assert (cell["loss"]["runs"], cell["loss"]["not_judged"]) == (1, 1)


def test_undecodable_name_leaves_valid_json(tmp_path: Path) -> None:
    made = page_of(summed(Story()), replay="mqproof run '\udcff.toml'", experiment="e\udcff")
    path = verdict.write(made, tmp_path)
    document = json.loads(path.read_bytes().decode("utf-8"))
    assert document["replay"] == "mqproof run '\\udcff.toml'"
    assert verdict_file.sides((path,))[0].name == "e\\udcff"
