"""Facts of a run that need its raw rows. A report that has them needs no raw rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.analyse import operated, routed
from harness.analyse.judged_run import JudgedRun
from harness.view.audited import audit
from harness.view.detail import Material, material
from harness.view.observations import Observation


@dataclass(frozen=True, slots=True)
class RawReading:
    """One run. `words`: facts of claims/vocabulary (OPERATED, SEEN) by name; None is unknown.
    `uncounted`: measures whose opportunities its marts do not hold, since they are of before
    format 3."""

    words: Mapping[str, Any]
    audited: tuple[Observation, ...]
    material: Material
    uncounted: frozenset[str] = frozenset()


def read_raw(run: JudgedRun) -> RawReading:
    """Read the raw tables of the run in its folder."""
    words = {
        **operated.client_state(run.folder, run.manifest, run.facts, run.findings),
        **routed.route_state(run.folder, run.manifest, run.facts),
    }
    return RawReading(words, audit(run.folder), material(run.folder, run.findings))
