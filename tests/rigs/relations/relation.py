"""A change of a history, and which verdicts may follow which."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from spark_analysis.schema.facts import Window, Worker
from tests.rigs.defects.measure import verdicts
from tests.rigs.defects.runs import Run
from tests.rigs.histories.claim_names import STEADY

PASS, FAIL = ClaimOutcome.PASS, ClaimOutcome.FAIL
OPEN, NONE = ClaimOutcome.INCONCLUSIVE, ClaimOutcome.NOT_APPLICABLE
Verdicts = Mapping[str, ClaimVerdict]
Change = Callable[[Run, Random], Run | None]
May = Callable[[ClaimVerdict, ClaimOutcome], bool]
# If each publisher was served while the target was dead, all had moved. That needs an answer for
# the whole run, too, which may be open for want of messages, so more traffic may decide it.
_LITTLE = re.compile(
    r"only [\d,]+ |too few|no message|lasted|nothing was|publishers_of_target_moved|"
    "kept all publishers away"
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A change makes None of a history that it cannot change. `may`: whether that outcome may
    follow that verdict. `claims`: those that the relation speaks of; empty: all."""

    change: Change
    may: May
    claims: Collection[str] = ()

    def __str__(self) -> str:
        return self.change.__name__

    def broken(self, before: Verdicts, changed: Run) -> Iterator[str]:
        """Yield the verdicts that may not follow those of the unchanged history."""
        for name, after in judged(changed).items():
            known = before[name]
            if name in (self.claims or before) and not self.may(known, after.outcome):
                yield f"{name}: {known.outcome} -> {after.outcome} ({known.not_judged})"


def judged(run: Run) -> Verdicts:
    return {it.claim: it for it in verdicts(run, shipped())}


def weaker(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    return after in (before.outcome, OPEN, NONE)


def same(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    return after is before.outcome


def kept(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    """Only what was too little may become enough."""
    if NONE in (before.outcome, after):
        return True
    little = any(_LITTLE.search(line) for line in before.not_judged)
    return after is before.outcome or (before.outcome is OPEN and little)


def in_doubt(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    """Nothing passes, and no promise that was broken is taken back. That a warning's harm did not
    come speaks for the broker: that does not hold either."""
    # Only a run without faults shows the cause of an outage in the steady state.
    if not before.is_promise or before.claim == STEADY:
        return after in (OPEN, NONE)
    return after is not PASS and (before.outcome is not FAIL or after in (FAIL, NONE))


def not_passed(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    return after is not PASS and (before.outcome is not FAIL or after is FAIL)


# --- parts of changes ----------------------------------------------------------------------------


def with_facts(run: Run, **values: Any) -> Run:
    return replace(run, facts=replace(run.facts, **values))


def with_window(run: Run, window: Window, **values: Any) -> Run:
    new = (replace(it, **values) if it is window else it for it in run.facts.windows)
    return with_facts(run, windows=tuple(new))


def with_worker(run: Run, worker: Worker, **values: Any) -> Run:
    new = (replace(it, **values) if it is worker else it for it in run.facts.workers)
    return with_facts(run, workers=tuple(new))


def some_time(run: Run, random: Random) -> int:
    return random.randint(run.facts.load_started_ns, run.facts.load_ended_ns)
