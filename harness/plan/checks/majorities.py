"""PURE: faults that together may leave less than a majority of the nodes.

1. Only layouts are meant in which a majority decides: of a queue's copies, or of the nodes if
   these pause without it. Each node has a copy of each queue. Of other layouts nothing is said.
2. A target says where its host is only when its fault begins. So a warning says "if".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import inf

from faults.core.isolation import isolates
from harness.plan.checks.overlaps import PAUSING
from harness.plan.files.references import anchor
from harness.plan.files.targets import TargetForm
from harness.plan.model import RunPlan, Window

_OF_BROKERS = (
    TargetForm.MASTER,
    TargetForm.MIRROR,
    TargetForm.HOST_OF_FAULT,
    TargetForm.OTHER_THAN_FAULT,
    TargetForm.HOST,
)


@dataclass(frozen=True, slots=True)
class Minority:
    """Faults that leave `left` of `nodes` nodes, together."""

    faults: tuple[int, ...]
    left: int
    nodes: int

    def __str__(self) -> str:
        return f"{self.left} of {self.nodes} nodes"


def minority(faults: Collection[int], away: int, nodes: int) -> Minority | None:
    """Return what faults leave that take `away` nodes; None: it is a majority, or one fault."""
    left = max(0, nodes - away)
    if len(faults) < 2 or 2 * left > nodes:
        return None
    return Minority(tuple(sorted(faults)), left, nodes)


def nodes_of(state: Mapping[str, object]) -> int | None:
    """Return of how many nodes a majority decides, by what a layout declares; None: of none, or
    that is unknown."""
    copies, masters = state.get("copies"), state.get("masters")
    decides = state.get("elects_by_majority") is True
    pauses = state.get("partition_handling") == PAUSING[0] and state.get("mirrored_on") == "all"
    if not isinstance(copies, int) or masters not in (None, 1):
        return None
    return copies if decides or pauses else None


def warning(run: RunPlan, declared: Mapping[str, object]) -> str:
    """Return a warning about the faults of a run; "" if they leave a majority, or that is
    unknown. `declared`: what the layout declares."""
    nodes = nodes_of(declared)
    hosts = {one.host for one in run.system.servers(run.layout).brokers}
    if nodes is None or nodes != len(hosts):
        return ""
    found = [_at(window, run, nodes) for window in run.schedule.windows]
    worst = min(filter(None, found), key=lambda one: one.left, default=None)
    if worst is None:
        return ""
    *first, last = map(str, worst.faults)
    return (
        f"warning: faults {', '.join(first)} and {last} together leave {worst}, if each takes "
        "another one: no majority, so queues may be unavailable until one ends"
    )


def _at(now: Window, run: RunPlan, nodes: int) -> Minority | None:
    """Return what the faults leave that are active when this one begins."""
    targets = {one.number: one.fault.target for one in run.schedule.windows}
    active = [
        one
        for one in run.schedule.windows
        if isolates(one.fault.kind, one.fault.options)
        and one.fault.target.form in _OF_BROKERS
        and one.opens_s <= now.opens_s < (one.ends_s if one.fault.returns else inf)
    ]
    places = {anchor(one.number, targets) for one in active}
    names = [targets[number].host for number in places if targets[number].host]
    return minority([one.number for one in active], len(places) - _again(names), nodes)


def _again(names: list[str]) -> int:
    return len(names) - len(set(names))
