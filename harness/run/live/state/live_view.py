"""A run that goes on, as people see it: counts, active faults, the strip, what is waited for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.run.core.conductor import Conductor
from harness.run.core.progress import Ending, parts, waits
from harness.run.core.view import LiveCounts, view_of
from harness.run.live.state.live_strip import LiveStrip
from harness.run.live.state.parts import RunParts


@dataclass(slots=True)
class LiveRunView:
    """The view of one run. `opened`: windows, and since when at the most."""

    of: RunParts
    conductor: Conductor
    opened: Mapping[int, int]
    strip: LiveStrip = field(init=False)

    def __post_init__(self) -> None:
        self.strip = LiveStrip(self.of.stage.plan.scenario.workload, self.of.workers)

    def at(self, now_ns: int) -> LiveCounts:
        """`now_ns`: of CLOCK_MONOTONIC."""
        of, conductor, manifest = self.of, self.conductor, self.of.manifest
        phase, run_ns = conductor.phase, of.stage.run_ns(now_ns)
        titles = {number: window.title for number, window in of.windows.items()}
        armed = [titles[number] for number in conductor.armed()]
        armed += [one for one in (of.operating.title, of.auditor.title) if one]
        left_s, started_ns = conductor.left_s(now_ns), manifest.load_started_ns
        entered_ns, schedule = manifest.phases_ns, of.stage.plan.schedule
        name = phase.name.lower()
        began_ns = entered_ns.get(name, 0)
        view = view_of(name, of.workers, armed, left_s, run_ns, started_ns, began_ns)
        ending = Ending(schedule.drain_limit_s, of.auditor.title)
        opened = [(of.windows[number], at_ns) for number, at_ns in self.opened.items()]
        return replace(
            view,
            groups=len(manifest.consumer_groups),
            awaits_undo=conductor.awaits_undo(),
            parts=parts(schedule, phase, entered_ns, run_ns),
            strip=self.strip.at(run_ns, manifest.load_started_ns, manifest.load_ended_ns, opened),
            waits=tuple(waits(conductor, titles, ending, entered_ns, of.stage.origin_ns, now_ns)),
        )
