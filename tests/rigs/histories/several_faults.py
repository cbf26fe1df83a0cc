"""Sketches with several faults: kills of a mirrored queue's master and others, faults of clients,
operations and unplanned ends of processes. Times are seconds."""

from typing import Any

from faults.kinds import KINDS
from harness.plan.fault_properties import declared_properties
from harness.run_folder.operations import SETTLES_NS
from spark_analysis.schema.facts import LeadershipChange, ProcessEnd, Window
from spark_analysis.schema.operation_times import OperationTime
from tests.rigs.histories.by_hand import CONSUMER, ns
from tests.rigs.histories.sketches import Sketch, calm


def load(until_s: float, *out_s: tuple[float, float], **options: Any) -> Sketch:
    sketch = calm(until_s * 1_000, **options)
    sketch.declared["clients_reached_another"] = True
    for from_s, end_s in out_s:
        sketch.silence(from_s * 1_000, end_s * 1_000)
    return sketch


def fault(
    sketch: Sketch,
    at_s: float,
    undo_s: float | None,
    kind: str = "kill",
    *,
    role: str = "master",
    gone_s: float | None = None,
    over: bool = True,
    recorded: dict[str, Any] | None = None,
    **named: Any,
) -> Sketch:
    """The next window; without `undo_s` it never ends."""
    times: dict[str, Any] = {"never_ended": True}
    if undo_s is not None:
        gone_s = undo_s + 0.05 if gone_s is None else gone_s
        times = {"undo_ms": undo_s * 1_000, "ended_ms": undo_s * 1_000 + 20}
        if named.get("gone", True):
            times["gone_ms"] = gone_s * 1_000
            if over:
                times["over_ms"] = gone_s * 1_000 + 950
    sketch.history.window(at_s * 1_000, returned_ms=at_s * 1_000 + 20, kind=kind, **times, **named)
    sketch.recorded[len(sketch.history.facts.windows)] = {
        "mirrors_at_fault": 2,
        "synchronised_mirrors_at_fault": 2,
        "promoted_mirror_rank": 1,
        "fault_target_role": role,
        "publishers_connected_to_target": role == "master",
        **(recorded or {}),
    }
    return sketch


def never_begun(sketch: Sketch, kind: str = "kill") -> Sketch:
    """The next window of the plan was never begun. As runs do, it names an early instant: when it
    was prepared."""
    number = len(sketch.history.facts.windows) + 1
    window = Window.planned(number, kind, ns(100), "not begun", declared_properties(KINDS[kind]))
    sketch.facts["not_begun"] = (window,)
    sketch.recorded[number] = {"fault_target_role": "master"}
    return sketch


def frozen(sketch: Sketch, worker: int, at_s: float, undo_s: float, **named: Any) -> Sketch:
    sketch.history.away(worker, at_s * 1_000, undo_s * 1_000 + 20)
    fault(sketch, at_s, undo_s, "client_freeze", role="none", **named)
    if worker == CONSUMER:
        sketch.hold(at_s * 1_000, undo_s * 1_000 + 20)
        return sketch
    for key, one in [*sketch.sent.items()]:
        if key[0] == worker and at_s * 1_000 <= one.at_ms < undo_s * 1_000 + 20:
            del sketch.sent[key]
            sketch.lose_of(worker, key[1])
            sketch.history.not_sent(key[1], intended_ms=one.at_ms, producer=worker)
    return sketch


def process_end(sketch: Sketch, at_s: float, until_s: float, cause: str) -> Sketch:
    ends = sketch.facts.get("process_ends", ())
    end = ProcessEnd("rmq3", ns(at_s * 1_000), cause, "signal 9", ns(until_s * 1_000))
    sketch.facts["process_ends"] = (*ends, end)
    return sketch


def operated(
    sketch: Sketch,
    at_s: float,
    until_s: float | None,
    *,
    settles_s: float = 0,
    stays: bool = False,
    moves_leader: bool = True,
) -> Sketch:
    """An operation that may move leaders; without `until_s` it is unknown until when.

    `settles_s`: so long after its end what it began may take effect. `stays`: what it kept away
    it keeps away for good, as a stop does. Without `moves_leader` it only blocks a queue."""
    over_ns = None if until_s is None else ns((until_s + settles_s) * 1_000)
    out_until_ns = None
    if until_s is not None and not stays:
        out_until_ns = ns(until_s * 1_000) + SETTLES_NS
    if moves_leader:
        change = LeadershipChange(ns(at_s * 1_000), None if settles_s else over_ns)
        changes = sketch.facts.get("leadership_changes", ())
        sketch.facts["leadership_changes"] = (*changes, change)
    one = OperationTime(ns(at_s * 1_000), over_ns, out_until_ns, moves_leader)
    sketch.facts["operations"] = (*sketch.facts.get("operations", ()), one)
    sketch.declared["operations"] = len(sketch.facts["operations"])
    return sketch


def as_older_run(sketch: Sketch) -> Sketch:
    """Older runs recorded no times of operations, and no difference to ends of processes."""
    sketch.facts["operations"] = ()
    return sketch
