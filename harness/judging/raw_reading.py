"""Facts of a run that need its raw rows. A report that has them needs no raw rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.analyse import operated, routed
from harness.run_folder.manifest import Manifest
from harness.view.audited import audit
from harness.view.detail import Material, material
from harness.view.observations import Observation
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings


@dataclass(frozen=True, slots=True)
class RawReading:
    """One run. `words`: facts of claims/vocabulary (OPERATED, SEEN) by name; None is unknown.
    `uncounted`: measures whose opportunities its marts do not hold, since they are of before
    format 3."""

    words: Mapping[str, Any]
    audited: tuple[Observation, ...]
    material: Material
    uncounted: frozenset[str] = frozenset()


def read_raw(folder: Path, manifest: Manifest, facts: Facts, findings: Findings) -> RawReading:
    """Read the raw tables of the run in `folder`."""
    words = operated.client_state(folder, manifest, facts, findings) | routed.route_state(
        folder, manifest, facts
    )
    return RawReading(words, audit(folder), material(folder, findings))
