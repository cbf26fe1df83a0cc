"""Looks at replicas go on record: at a fault, before its undo, after the load."""

from pathlib import Path

from harness.cluster.port import Roles
from harness.plan.distribution import NAMED_MAX
from harness.run.record import RunRecorder
from harness.run_folder import rows
from harness.run_folder.replica_looks import KIND, looks
from spark_analysis.schema.tables import PROBES
from tests.harness.run.live_runs import run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, fault, plan


def test_a_run_records_who_held_a_queue_around_a_fault(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("kill")), tmp_path)
    (window,) = done.facts.windows
    found = looks(rows.read(done.folder, rows.Probe, 99, rows.field("kind") == KIND))
    before, during, *after = found
    assert before.at_ns <= window.origin_ns < window.returned_ns <= during.began_ns
    assert during.at_ns <= (window.ended_ns or 0)
    assert during.serving in before.copies
    assert during.serving != before.serving
    assert after


def test_of_many_queues_no_look_is_recorded(tmp_path: Path) -> None:
    appended: list[tuple[object, ...]] = []
    record = RunRecorder(tmp_path, 0)
    record._log.append = lambda *row: appended.append(row)  # type: ignore[method-assign]
    one = Roles("rmq1", ("rmq2",), None)
    record.replicas(1, 2, {f"q{number}": one for number in range(NAMED_MAX + 1)})
    assert appended == []
    record.replicas(1, 2, {"q": one})
    assert [row[:4] for row in appended] == [(PROBES, 0, KIND, "q")]
    record.close()
