"""`--misbehave KIND[:SHARE]`: a defect that the nodes of a cluster get on purpose.

1. It works with subprocesses (`local`) of a system that declares this kind (the reference).
   Anything else is bad input, reported with every cell that it concerns.
2. The word and the experiment's seed decide which messages are hit. A kind without a random choice
   hits what its rule says, and takes no share.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from faults.core.mechanisms import LOCAL
from harness.outside.text import brief
from harness.plan.model import Experiment, RunPlan
from harness.plan.problems import PlanError, Problem, unknown

FLAG = "--misbehave"
DRAWN = ("drop", "duplicate", "reorder", "corrupt", "confirm-early", "forget", "redeliver")
OF_LOGS = ("rewind", "half")  # drawn, of brokers whose groups have a place in a log
# A DLedger group without one of its rules (docs/behaviour/rocketmq-elections.md 1.1).
WITHOUT = "without-"
OF_LEDGERS = (
    "without-remember-vote",
    "without-complete-log",
    "without-majority",
    "without-own-term",
    "without-compare",
    "without-fence",
    "without-keep-matched",
    "without-step-down",
    "without-give-way",
    "without-flush-first",
)
# A group of CTGMQ without one of its rules (docs/behaviour/rocketmq-ctgmq.md 3).
OF_REPLICAS = (
    "without-quorum-lease",
    "without-lease",
    "without-lease-on-ack",
    "without-confirmed-role",
    "without-commit-shrink",
    "without-union",
    "without-join-caught-up",
    "without-out-behind",
    "without-hysteresis",
    "without-min-in-sync",
    "without-in-set",
    "without-grace",
    "without-handover",
    "without-check-code",
    "without-ack-epoch",
    "without-fence-state",
    "without-boundary",
    "without-ask-first",
    "without-read-confirmed",
    "without-error-codes",
)
RULES = ("stale-guard", "truncate", *OF_LEDGERS, *OF_REPLICAS)
KINDS = (*DRAWN, *OF_LOGS, *RULES)
SHARE = 0.005
HELP = (
    "Let a reference misbehave on purpose and record the affected messages, for example "
    f"{DRAWN[0]} or {RULES[0]}; an unknown KIND gets the list of all."
)
TRUTH = "truth"  # in a run's folder: what each node says it did wrong


@dataclass(frozen=True, slots=True)
class Misbehave:
    """`share`: of the messages that a kind could hit; 1 where nothing is drawn."""

    kind: str
    share: float
    seed: int

    def __str__(self) -> str:
        return self.kind if self.kind in RULES else f"{self.kind}:{self.share:g}"


def problems(word: str | None) -> Iterator[Problem]:
    """What is wrong with the word itself, whatever the experiment is."""
    if not word:
        return
    kind, colon, share = word.partition(":")
    if kind not in KINDS:
        yield unknown(FLAG, "misbehaviour", kind, KINDS)
    if colon and kind in RULES:
        yield Problem(FLAG, f"{kind} takes no share: it hits whatever its rule hits")
    elif colon and _share(share) is None:
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
    kind, _, share = word.partition(":")
    _check(kind, experiment)
    drawn = _share(share) or SHARE
    return Misbehave(kind, 1.0 if kind in RULES else drawn, experiment.seed)


def _check(kind: str, experiment: Experiment) -> None:
    """Raises PlanError."""
    unfit = dict.fromkeys(filter(None, (_unfit(kind, run) for run in experiment.runs)))
    if unfit:
        raise PlanError([Problem(FLAG, text) for text in unfit])


def _unfit(kind: str, run: RunPlan) -> str:
    """Why the nodes of a run cannot do so on request; "" where they can."""
    name, kinds = run.system.name, run.system.misbehaves
    if kind not in kinds:
        known = f"only {', '.join(kinds)}" if kinds else "nor misbehave in any other way"
        return f"{name} cannot {kind} on request, {known}"
    if run.deployment != LOCAL:
        return f"{name} can {kind} on request only under {LOCAL!r}, not under {run.deployment!r}"
    if run.scenario.workload.consumer_groups:
        return f"what nodes admit is compared with one group, and {run.scenario.name} has several"
    return ""


def _share(word: str) -> float | None:
    """Above 0, at most 1; None for anything else."""
    try:
        share = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        return None
    return share if 0 < share <= 1 else None
