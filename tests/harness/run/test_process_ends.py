"""Processes of brokers that end during a run: whom we told to, who ended them, until when."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from faults.core.actions import Action, Freeze, Kill, Start, Stop
from faults.core.model import Receipt
from harness.cluster.port import DeployError, Ended
from harness.run.process_ends import LATE_NS, NotingExecutor, ProcessEnds
from spark_analysis.schema.facts import Cause, Facts, LeadershipChange
from tests.harness.run.live_runs import run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, fault, operated, operation, plan

ORIGIN_NS = 1_000


def ended(place: str = "rmq1", at_ns: int = 2_000, code: int | None = 137, by: str = "") -> Ended:
    return Ended(place, at_ns, code, by)


@pytest.mark.parametrize(
    ("code", "by", "cause"),
    [
        (137, "", Cause.OUTSIDE),
        (143, "", Cause.OUTSIDE),
        (0, "somebody, through the engine", Cause.OUTSIDE),
        (1, "the kernel, for want of memory", Cause.OUTSIDE),
        (139, "", Cause.ITSELF),  # it broke
        (134, "", Cause.ITSELF),  # it gave up
        (1, "", Cause.ITSELF),
        (255, "", Cause.ITSELF),
        (0, "", Cause.UNKNOWN),  # it may have been asked to
        (None, "", Cause.UNKNOWN),
    ],
)
def test_exit_reason_is_the_status_or_the_observed_killer(
    code: int | None, by: str, cause: Cause
) -> None:
    ends = ProcessEnds(ORIGIN_NS)
    found = ends.saw(ended(code=code, by=by))
    assert found is not None
    assert (found.place, found.at_ns, found.cause) == ("rmq1", 1_000, cause)
    assert ends.unplanned == [found]


def test_a_requested_end_is_no_accident_and_others_are() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.expect("rmq1")
    assert ends.saw(ended("rmq1")) is None
    assert ends.saw(ended("rmq2")) is not None


def test_a_process_with_a_requested_end_ends_once() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.expect("rmq1")
    assert ends.saw(ended(at_ns=2_000)) is None
    ends.started("rmq1", 3_000)
    assert ends.saw(ended(at_ns=4_000)) is not None


def test_each_process_of_a_stopped_host_ends_once() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.expect("rkt1")
    assert ends.saw(ended("rkt1/broker-a")) is None
    assert ends.saw(ended("rkt1/name-server")) is None
    assert ends.saw(ended("rkt1/broker-a")) is not None


def test_a_stopped_process_does_not_speak_for_its_host() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.expect("rkt1/name-server")
    assert ends.saw(ended("rkt1/broker-a")) is not None


@pytest.mark.parametrize(("late_ns", "planned"), [(LATE_NS, True), (LATE_NS + 1, False)])
def test_an_end_may_be_reported_shortly_after_the_restart(late_ns: int, planned: bool) -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.expect("rmq1")
    ends.started("rmq1", 3_000)
    assert (ends.saw(ended(at_ns=3_000 + late_ns)) is None) == planned


def test_restarted_host_was_down_until_its_start() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.saw(ended("rmq1", at_ns=2_000))
    ends.saw(ended("rmq2", at_ns=2_500))
    ends.started("rmq1", 5_000)
    assert [(one.place, one.until_ns) for one in ends.unplanned] == [
        ("rmq1", 4_000),
        ("rmq2", None),
    ]


class Still:
    """An executor that does nothing."""

    async def perform(self, action: Action) -> Receipt:
        return Receipt(7_000, 8_000)

    def mechanism(self, kind: str) -> str:
        return f"mechanism of {kind}"


@pytest.mark.parametrize("action", [Kill("rmq1"), Stop("rmq1")])
def test_ending_actions_are_noted_before_they_run(action: Action) -> None:
    ends = ProcessEnds(ORIGIN_NS)
    executor = NotingExecutor(Still(), ends)
    asyncio.run(executor.perform(action))
    assert executor.mechanism("kill") == "mechanism of kill"
    assert ends.saw(ended()) is None


def test_a_signal_to_no_process_explains_no_end() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    asyncio.run(NotingExecutor(Still(), ends).perform(Freeze("rmq1")))
    assert ends.saw(ended()) is not None


def test_start_marks_the_end_of_a_hosts_downtime() -> None:
    ends = ProcessEnds(ORIGIN_NS)
    ends.saw(ended())
    asyncio.run(NotingExecutor(Still(), ends).perform(Start("rmq1")))
    assert [one.until_ns for one in ends.unplanned] == [7_000]


# --- whole runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kill", "stop", "reboot", "freeze", "hang"])
def test_processes_ended_by_the_schedule_are_expected(kind: str, tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault(kind)), tmp_path)
    assert done.facts.process_ends == ()
    assert done.said == []


def test_processes_ended_by_an_operator_are_expected(tmp_path: Path) -> None:
    of = operated(operation("restart_node", "uninvolved"))
    done = run(SimulatedCluster(LAYOUT), of, tmp_path)
    assert done.facts.process_ends == ()


def test_accident_is_recorded_at_once_and_makes_the_leader_uncertain(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT, accidents=((0.2, "rmq3", 137),))
    done = run(cluster, plan(), tmp_path)
    (end,) = done.facts.process_ends
    assert (end.place, end.cause) == ("rmq3", Cause.OUTSIDE)
    assert end.until_ns is not None, "the auditor started it"
    assert done.facts.load_ended_ns < end.until_ns
    (said,) = done.said
    assert said.startswith("rmq3 ended at +0.")
    assert "unplanned: killed from outside: signal 9 (SIGKILL)" in said
    (leadership_change,) = done.facts.leadership_changes
    assert leadership_change.origin_ns < end.at_ns
    assert leadership_change.over_ns is None


def test_an_accident_beside_a_fault_is_distinguished_from_it(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, accidents=((0.2, "rmq3", 3),))
    done = run(cluster, plan(fault("kill")), tmp_path)
    assert [(one.place, one.cause) for one in done.facts.process_ends] == [("rmq3", Cause.ITSELF)]


def test_facts_keep_accidents_and_those_of_older_runs_have_none(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, accidents=((0.2, "rmq3", 137),))
    facts = run(cluster, plan(), tmp_path).facts
    document = facts.to_json()
    assert Facts.from_json(document) == facts
    del document["process_ends"]
    assert Facts.from_json(document) == replace(facts, process_ends=())


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (DeployError("the engine is gone"), "the engine is gone"),
        (KeyError("Actor"), "'Actor'"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_a_lost_watch_is_recorded_with_its_reason(
    failure: Exception, reason: str, tmp_path: Path
) -> None:
    done = run(SimulatedCluster(LAYOUT, watch_fails=failure), plan(), tmp_path)
    assert (done.manifest.process_watch_lost, done.facts.process_watch_lost) == (reason, reason)
    assert done.facts.unplanned == (LeadershipChange(0, None),)
    assert done.said == [
        f"mqproof lost the watch of brokers' processes, so their ends are unknown: {reason}"
    ]


def test_older_recordings_read_as_watched_to_the_end(tmp_path: Path) -> None:
    facts = run(SimulatedCluster(LAYOUT), plan(), tmp_path).facts
    document = facts.to_json()
    assert document.pop("process_watch_lost") == ""
    assert Facts.from_json(document) == facts
