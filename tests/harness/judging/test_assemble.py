"""What a stored experiment must still know for its page to be made again, and what a run says."""

from pathlib import Path

import pytest

from harness.judging.assemble import titles
from harness.judging.result import CellTitle
from harness.request import run_request
from harness.run_folder.experiments import recall, remember
from harness.systems.rabbitmq.core import khepri
from harness.view.new_masters import NEW_MASTER
from spark_analysis.schema.views import STAGES
from tests.rigs.histories.watching import ALL, OTHER, looks
from tests.rigs.runs.judged_runs import crash, judged_run


def test_a_stored_experiment_remembers_what_its_cells_words_mean(tmp_path: Path) -> None:
    request = run_request.RunRequest(scenarios=("master-crash", "cut-one-node"), repeats=2, seed=7)
    experiment = run_request.experiment_of(request, "e")
    words = {cell: (t.scenario, t.system, t.layout) for cell, t in titles(experiment).items()}
    remember(experiment, "again", words, tmp_path / "e")
    found = {cell: CellTitle(*values) for cell, values in recall(tmp_path / "e").titles.items()}
    assert found == titles(experiment)
    assert len(found) == 2
    assert all(title.scenario and title.system and title.layout for title in found.values())


def test_a_run_lists_its_companions_in_one_line(tmp_path: Path) -> None:
    beside = judged_run(tmp_path / "one", crash(), together=["quick-2", "quick-3"])
    line = "played together with quick-2, quick-3: one cluster, and one fault for all"
    assert line in beside.notes
    assert not any("together" in note for note in judged_run(tmp_path / "alone", crash()).notes)


def test_a_run_shows_new_masters_but_no_switch_of_a_fault_of_clients(tmp_path: Path) -> None:
    history = crash().window(30_000, kind="client_freeze")
    looks(history, "ns1", range(400, 14_000, 400), *ALL)
    looks(history, "ns1", range(14_000, 39_000, 400), "broker-a master at rkt3:10931", OTHER)
    found = judged_run(tmp_path, history)
    (line,) = (one.text for one in found.observations if one.name == "route")
    assert line.startswith("fault 1: route changed (first name server) after ")
    assert ", new master shown after 1.580 to 2.005 s" in line
    assert found.detail is not None
    stages = [{row.stage for row in fault.stages} for fault in found.detail.timeline.faults]
    assert [NEW_MASTER in of_fault for of_fault in stages] == [True, False]
    assert [{*STAGES} <= of_fault for of_fault in stages] == [True, False]


def test_undrained_queue_hides_nothing_if_nothing_is_missing(
    tmp_path: Path,
) -> None:
    undrained = judged_run(tmp_path / "whole", crash().queue("orders", drained=False))
    assert undrained.summary is not None and undrained.summary.loss_proved
    (doubt,) = undrained.doubts
    assert doubt.startswith("loss was judged, because every confirmed message arrived, although")
    missing = judged_run(tmp_path / "missing", crash(lost=[7]).queue("orders", drained=False))
    assert missing.summary is not None and not missing.summary.loss_proved
    assert [one[:22] for one in missing.doubts] == ["orders was not drained"]


def test_a_run_names_the_version_that_its_systems_brokers_reported(tmp_path: Path) -> None:
    versions = {"rabbitmq": "4.0.5", "erlang": "27", "pika": "1.4.4"}
    assert judged_run(tmp_path / "one", crash(), versions=versions).brokers == "rabbitmq 4.0.5"
    assert judged_run(tmp_path / "none", crash(), versions={"pika": "1.4.4"}).brokers == ""


@pytest.mark.parametrize(
    ("versions", "origin"),
    [
        ({"user's image": "mine:1 sha256:1"}, "user's image mine:1 sha256:1"),
        (
            {"distribution": "/acme", "broker image": "mqproof/rocketmq:x sha256:2"},
            "distribution /acme, broker image mqproof/rocketmq:x sha256:2",
        ),
        ({"broker image": "mqproof/rabbitmq:x sha256:2"}, ""),
    ],
)
def test_a_run_names_the_users_image_or_build(
    tmp_path: Path, versions: dict[str, str], origin: str
) -> None:
    assert judged_run(tmp_path, crash(), versions=versions).origin == origin


@pytest.mark.parametrize(
    ("store", "text"), [("mnesia", ""), ("khepri", ", metadata in khepri"), (None, "")]
)
def test_a_run_names_khepri_beside_the_version(
    tmp_path: Path, store: str | None, text: str
) -> None:
    versions = {"rabbitmq": "4.3.6"} | ({} if store is None else {khepri.STORE: store})
    assert judged_run(tmp_path, crash(), versions=versions).brokers == f"rabbitmq 4.3.6{text}"


@pytest.mark.parametrize(
    ("client", "brokers", "noted"),
    [
        ("rocketmq-java-5.3.3", "4.9.7", True),
        ("rocketmq-java-5.3.3+latency_fault", "4.9.7", True),
        ("rocketmq-java-5.3.3", "5.3.3", False),
        ("rocketmq-native", "4.9.7", False),
    ],
)
def test_a_library_of_another_version_is_noted(
    tmp_path: Path, client: str, brokers: str, noted: bool
) -> None:
    versions = {"rocketmq": brokers}
    run = judged_run(tmp_path, crash(), versions=versions, system="rocketmq-2m2s", client=client)
    note = "the client's library has version 5.3.3, the brokers have 4.9.7, as planned"
    assert (note in run.notes) is noted
