"""A run that goes on, as people see it: counts, active faults, the strip, what is waited for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.plan.model import RunPlan
from harness.run.core.conductor import Conductor
from harness.run.core.progress import Ending, parts, waits
from harness.run.core.view import LiveCounts, view_of
from harness.run.fault_windows.window_state import WindowState
from harness.run.live_strip import LiveStrip
from harness.run.operations.auditor import Auditor
from harness.run.operations.operating import Operating
from harness.run.worker_handles import WorkerHandle
from harness.run_folder.manifest import Manifest


@dataclass(slots=True)
class LiveRunView:
    """The view of one run. `workers` grows as clients are replaced."""

    plan: RunPlan
    manifest: Manifest
    conductor: Conductor
    windows: Mapping[int, WindowState]
    operating: Operating
    auditor: Auditor
    workers: Sequence[WorkerHandle]
    origin_ns: int
    opened: dict[int, int] = field(default_factory=dict)  # windows, and since when at the most
    strip: LiveStrip = field(init=False)

    def __post_init__(self) -> None:
        self.strip = LiveStrip(self.plan.scenario.workload, self.workers)

    def at(self, now_ns: int) -> LiveCounts:
        """`now_ns`: of CLOCK_MONOTONIC."""
        conductor, manifest = self.conductor, self.manifest
        phase, run_ns = conductor.phase, now_ns - self.origin_ns
        titles = {number: window.title for number, window in self.windows.items()}
        armed = [titles[number] for number in conductor.armed()]
        armed += [one for one in (self.operating.title, self.auditor.title) if one]
        left_s, started_ns = conductor.left_s(now_ns), manifest.load_started_ns
        view = view_of(phase.name.lower(), self.workers, armed, left_s, run_ns, started_ns)
        entered_ns = manifest.phases_ns
        ending = Ending(self.plan.schedule.drain_limit_s, self.auditor.title)
        opened = [(self.windows[number], at_ns) for number, at_ns in self.opened.items()]
        return replace(
            view,
            parts=parts(self.plan.schedule, phase, entered_ns, run_ns),
            strip=self.strip.at(run_ns, manifest.load_started_ns, manifest.load_ended_ns, opened),
            waits=tuple(waits(conductor, titles, ending, entered_ns, self.origin_ns, now_ns)),
        )
