"""verdict.json: everything that a report says, for machines."""

import json
from pathlib import Path

from harness.report import verdict
from tests.findings import Story
from tests.reports import CELL, OTHER, SKIPPED, compared, report, run
from tests.told_runs import page_of, summed


def test_it_says_what_replays_it_and_what_every_run_showed(tmp_path: Path) -> None:
    made = report(run(Story()), skipped=(SKIPPED,), comparison=(compared(CELL, "silence", 171e6),))
    path = verdict.write(made, tmp_path)
    document = json.loads(path.read_text())
    assert (document["format"], document["version"]) == ("mqproof verdict", 1)
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
    assert outcomes["untold-consumer-waits-forever"] == "FAIL"
    assert outcomes["election-loses-nothing"] == "PASS"
    assert "this cell is known to do so" in next(
        claim["line"] for claim in one["claims"] if claim["outcome"] == "FAIL"
    )
    assert {"name": "lost", "window": 0, "judged": True, "text": "loss 0 of 21,400"} in one[
        "observations"
    ]
    assert document["cells"][0]["standing"] == "as expected"
    assert document["skipped"][0]["reason"] == "no mirror"
    assert document["comparison"][0]["measure"] == "silence"
    assert [item.name for item in tmp_path.iterdir()] == ["verdict.json"]


def test_doubts_and_failures_are_in_it() -> None:
    story = Story().unverified("not seen to hold: the process runs")
    document = verdict.document(report(run(story), run(story, "b", verdicts=(), failure="lost")))
    assert document["exit_code"] == 2
    assert document["runs"][0]["doubts"] == ["fault 1: not seen to hold: the process runs"]
    assert document["runs"][1]["judged"] is False
    assert document["runs"][1]["failure"] == "lost"


def test_every_place_says_what_its_runs_come_to_together_and_by_scenario() -> None:
    lost = Story().count("lost", "replicated", 37).silence(33.0, censored=True)
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    runs = (
        summed(lost),
        summed(stalled, repeat=2),
        summed(Story(), cell=("cut-one-node", *CELL[1:])),
        summed(Story(), cell=OTHER),
    )
    first, second = verdict.document(page_of(*runs))["places"]
    assert (first["layout"], second["layout"]) == (CELL[2], OTHER[2])
    assert (first["runs"], first["judged"], first["confirmed"]) == (3, 3, 64_200)
    assert (first["lost"], first["stranded"], first["undecided_messages"]) == (37, 0, 0)
    assert (first["loss_decided_runs"], first["outage_decided_runs"]) == (3, 2)
    (replicated,) = first["by_strength"]
    assert (replicated["confirmed"], replicated["lost"]) == (64_200, 37)
    crash, cut = first["scenarios"]
    assert (crash["scenario"], crash["runs"]) == ("master-crash", 2)
    assert crash["out"] == {"median_s": 33.0, "maximum_s": 33.0, "bound": True, "runs": 1}
    assert cut["late"] == {"missed": 12, "operations": 4_500, "runs": 1}


def test_a_place_whose_outage_nobody_knows_has_no_number_for_it() -> None:
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    (place,) = verdict.document(page_of(summed(stalled)))["places"]
    assert (place["out"], place["silence"], place["degraded"]) == (None, None, None)
    assert place["late"]["runs"] == 0


def test_every_run_says_alone_what_places_say_of_many() -> None:
    lost = Story().count("lost", "replicated", 37).count("duplicated", "redelivery", 4)
    first, second = verdict.document(
        page_of(summed(lost.silence(33.0, censored=True)), run(Story(), "b", verdicts=()))
    )["runs"]
    told = first["summary"]
    assert (told["confirmed"], told["lost"], told["loss_decided_runs"]) == (21_400, 37, 1)
    assert told["out"] == {"median_s": 33.0, "maximum_s": 33.0, "bound": True, "runs": 1}
    assert told["duplicates"] == {"redelivery": 4}
    assert second["summary"] is None
