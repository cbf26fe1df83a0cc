"""`--misbehave KIND[:SHARE]`: what the nodes of a reference cluster are told to do wrong.

1. Only a reference system can misbehave, and only as subprocesses (`local`); anything else is bad
   input, told with every cell that it means.
2. The word, with the experiment's seed, fixes which messages are hit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.outside.text import brief
from harness.plan.model import Experiment
from harness.plan.problems import PlanError, Problem, unknown

FLAG = "--misbehave"
KINDS = ("drop", "duplicate", "reorder", "corrupt", "confirm-early", "forget", "redeliver")
SHARE = 0.005
HELP = f"A reference cluster does wrong, and says to whom: {', '.join(KINDS)}."
TRUTH = "truth"  # in a run's folder: what each node says it did wrong
REFERENCE, DEPLOYMENT = "reference-", "local"


@dataclass(frozen=True, slots=True)
class Misbehave:
    """`share`: of the messages that a kind could hit."""

    kind: str
    share: float
    seed: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.share:g}"


def problems(word: str | None) -> Iterator[Problem]:
    """What is wrong with the word itself, whatever the experiment is."""
    if not word:
        return
    kind, colon, share = word.partition(":")
    if kind not in KINDS:
        yield unknown(FLAG, "misbehaviour", kind, KINDS)
    if colon and _share(share) is None:
        text = f"the share is a number above 0 and at most 1 (or 100%), not {brief(share)}"
        yield Problem(FLAG, text)


def parse(word: str | None, experiment: Experiment) -> Misbehave | None:
    """`drop`, `drop:0.01`, `drop:1%`, of an experiment that can; without a word None.

    Raises PlanError.
    """
    if not word:
        return None
    if found := tuple(problems(word)):
        raise PlanError(found)
    _check(experiment)
    kind, _, share = word.partition(":")
    return Misbehave(kind, _share(share) or SHARE, experiment.seed)


def _check(experiment: Experiment) -> None:
    unfit = dict.fromkeys(
        f"{run.system.name} under {run.deployment!r}"
        for run in experiment.runs
        if not run.system.name.startswith(REFERENCE) or run.deployment != DEPLOYMENT
    )
    if unfit:
        text = f"only reference systems under {DEPLOYMENT!r} can; {', '.join(unfit)} cannot"
        raise PlanError([Problem(FLAG, text)])


def _share(word: str) -> float | None:
    """Above 0, at most 1; None for anything else."""
    try:
        share = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        return None
    return share if 0 < share <= 1 else None
