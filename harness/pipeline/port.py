"""What the command line asks of the pipeline, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.cleanup.heal import EVERYBODY, Chosen
from harness.judging.exits import Judge
from harness.judging.own_claims import OwnClaims
from harness.judging.result import Report
from harness.plan.bound import Bound
from harness.plan.layouts.topology import Topology
from harness.plan.misbehave import Misbehave
from harness.plan.model import Experiment
from harness.report.display import Display
from spark_analysis.schema.place import HERE, Place


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to carry an experiment out, beside what it is."""

    results: Path  # the experiment's folder is made inside, under its name
    judge: Judge = Judge.CLAIMS
    keep: bool = False
    replay: str = ""  # the command that does the same experiment again
    misbehave: Misbehave | None = None  # a defect that every node gets on purpose
    bound: Bound | None = (
        None  # repeat each cell until this is its one-sided bound, or until a violation
    )
    spark: Place = HERE
    standing: Path | None = None  # the folder of the keeper whose clusters are used
    claims: OwnClaims | None = None  # the user's own


class Pipeline(Protocol):
    """What the command line calls; stages.py is one."""

    def run(self, experiment: Experiment, options: RunOptions, show: Display) -> Report: ...

    def bring(self, wanted: Mapping[str, Path], where: Place, show: Display) -> None:
        """Experiments that lie in a store: by URL the folder that each is brought to."""

    def analyse(
        self,
        folders: Sequence[Path],
        into: Path,
        judge: Judge | None,
        show: Display,
        reseal: bool = False,
        where: Place = HERE,
        claims: OwnClaims | None = None,
    ) -> Report:
        """`into`: the folder itself where there is one, a new one for several. `judge`: None takes
        the judge that the folder recorded; so do `claims`."""

    def heal(self, show: Display, chosen: Chosen = EVERYBODY, dry: bool = False) -> bool:
        """Whether nothing stands in the way any more; tells what it did by messages, or would do
        where it is dry."""

    def build(
        self, systems: tuple[str, ...], show: Display, versions: tuple[str, ...] = ()
    ) -> None:
        """`versions`: of the brokers; a system that knows none of them gets its default."""

    def doctor(self, show: Display) -> bool:
        """Whether nothing is missing here; tells what is, and how to get it, by messages."""

    def doctor_of(self, topology: Topology, show: Display) -> bool:
        """Whether a cluster that is there could be put under test; it is not touched."""
