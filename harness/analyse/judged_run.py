"""A recorded run with what the analysis found of it: what a report of the run is made of."""

from dataclasses import dataclass, field
from pathlib import Path

from harness.run_folder.manifest import Manifest
from spark_analysis.schema.costs import Costs
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.sends import Sends
from spark_analysis.schema.views import Views


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run: its recorded facts, and its own rows of the marts."""

    folder: Path
    manifest: Manifest
    facts: Facts
    findings: Findings
    costs: Costs = field(default_factory=Costs)
    views: Views = field(default_factory=Views)
    sends: Sends = field(default_factory=Sends)
