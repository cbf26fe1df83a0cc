"""Numbers and times as people read them.

1. A lower bound says so (`≥ 3`); an unknown number reads `unknown`.
2. Times are seconds throughout, so that two of them can be compared at a glance.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from harness.claims.judge import OF_WARNINGS, ClaimOutcome
from harness.claims.recovery import ended_by_fault, reason_near_zero
from harness.claims.stories import NO_BACKLOG
from harness.claims.times import stage_text
from harness.view.new_masters import MEANINGS
from harness.view.summary import (
    AT_ONCE,
    CUT_SHORT,
    NEVER_LATE,
    NOT_MEASURED,
    Number,
    WindowOutage,
    is_near_zero,
)
from spark_analysis.schema import measures
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.digest import SUSTAINED
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import BY_NAME

GLUE = "\u00a0"
_DATED = re.compile(r"(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})\d{2}-[0-9a-f]{4}")


class Badge(NamedTuple):
    """An outcome at a glance."""

    tone: str
    sign: str
    word: str

    @property
    def shown(self) -> tuple[str, str]:
        """Return the tone, and the text: `✗ FAIL`."""
        return self.tone, f"{self.sign} {self.word}"


BADGES = {
    ClaimOutcome.FAIL: Badge("fail", "✗", "FAIL"),
    ClaimOutcome.INCONCLUSIVE: Badge("open", "?", "INCONCLUSIVE"),
    ClaimOutcome.PASS: Badge("pass", "✓", "PASS"),
    ClaimOutcome.NOT_APPLICABLE: Badge("not_applicable", "–", "NOT APPLICABLE"),
}
NOT_JUDGED = Badge("open", "?", "NOT JUDGED")
# A claim that predicts harm: the harm did not occur, or it did.
NOT_SEEN = Badge("open", "–", OF_WARNINGS[ClaimOutcome.FAIL])
CONFIRMED = Badge("open", "!", OF_WARNINGS[ClaimOutcome.PASS])


def phase_title(phase: str) -> str:
    """Return the name of a run's phase as people read it."""
    return {"baseline": "steady state", "windows": "faults"}.get(phase, phase)


def dated(name: str) -> str:
    """Return when the experiment or night of this name began: `2026-11-27 22:00 UTC`. Other names
    stay as they are."""
    found = _DATED.fullmatch(name)
    return "{}-{}-{} {}:{} UTC".format(*found.groups()) if found else name


def count(number: float) -> str:
    return f"{number:,.0f}"


def seconds(number: float) -> str:
    """`0.003 s`, `0.135 s`, `1.97 s`, `61.9 s`, `3 min 20 s`; no line ends between a number and
    its unit."""
    if number >= 119.95:
        whole = round(number)
        return f"{whole // 60}{GLUE}min {whole % 60:02d}{GLUE}s"
    if number >= 9.995:
        return f"{number:.1f}{GLUE}s"
    if number >= 0.9995 or number == 0:
        return f"{number:.2f}{GLUE}s"
    return f"{number:.3f}{GLUE}s"


def less_stalls(measured_s: float, stalled_s: float, mark: str) -> str:
    """Return a time without the stalls that may have lengthened it: `≥ 34.6 s (34.7 s measured,
    less 0.140 s in which mqproof itself stalled)`. `mark`: stands before a number."""
    measured, stalls = seconds(measured_s), seconds(stalled_s)
    if not stalled_s:
        return f"{mark}{measured}"
    if measured_s <= stalled_s:
        return f"{measured} measured, perhaps all stalls of mqproof"
    least = seconds(measured_s - stalled_s)
    return f"{mark}{least} ({measured} measured, less {stalls} in which mqproof itself stalled)"


def share(number: float) -> str:
    """`0 %`, `0.02 %`, `4.3 %`, `25 %`, `99.6 %`: what is little must not read as nothing, and
    what is much not as all."""
    per_cent = 100 * number
    if 99.5 <= per_cent < 100:
        texts = (f"{per_cent:.{digits}f}" for digits in (1, 2))
        text = next((one for one in texts if float(one) < 100), "> 99.99")
        return f"{text}{GLUE}%"
    if per_cent >= 9.95 or per_cent == 0:
        return f"{per_cent:.0f}{GLUE}%"
    if per_cent >= 0.095:
        return f"{per_cent:.1f}{GLUE}%"
    return f"{per_cent:.2f}{GLUE}%" if per_cent >= 0.005 else f"< 0.01{GLUE}%"


def octets(number: float) -> str:
    """`0.3 KB`, `45 KB`, `1.4 MB`, `151 MB`, in thousands."""
    kilo = number / 1000
    if kilo < 1000:
        return f"{kilo:,.0f} KB" if kilo >= 10 or not kilo else f"{kilo:,.1f} KB"
    mega = kilo / 1000
    return f"{mega:,.0f} MB" if mega >= 10 else f"{mega:,.1f} MB"


def after(at_ns: float) -> str:
    """An instant of run time, as verdict lines have it: `+13.467 s`."""
    return f"+{at_ns / 1e9:.3f} s"


def bound(number: Number) -> str:
    if number.least is None:
        return "unknown"
    return f"{'' if number.exact else '≥ '}{count(number.least)}"


def plural(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def kept(promises: int) -> str:
    """`7 promises kept`: they passed."""
    return f"{plural(promises, 'promise')} kept"


def untrue(warnings: int) -> str:
    """`1 warning did not come true`: of claims that predict harm."""
    return f"{plural(warnings, 'warning')} did not come true"


def clause(sentence: str) -> str:
    """Return a sentence as a part of another: `messages lose their order`. Names of products and
    abbreviations keep their capitals."""
    first = sentence.partition(" ")[0]
    plain = first[1:].islower() or len(first) == 1
    text = f"{sentence[:1].lower()}{sentence[1:]}" if plain else sentence
    return text.removesuffix(".")


def of(number: int, total: int, noun: str) -> str:
    """`3 of 5 runs`; of one: `in the run`."""
    return f"{count(number)} of {plural(total, noun)}"


def measure_name(measure: str) -> str:
    return BY_NAME[measure].title if measure in BY_NAME else measure.replace("_", " ")


def meaning(measure: str, detail: str = "") -> str:
    """Return what a measure counts; of a fixed detail what its title leaves open, or ""."""
    known = BY_NAME.get(measure)
    if known is None or not (detail and known.details):
        return "" if known is None else known.meaning
    fixed = measures.detail(measure, detail)
    return "" if fixed is None else fixed.meaning


def is_grave(measure: str, detail: str) -> bool:
    return measure in BY_NAME and measures.grade(measure, detail) is Grade.VIOLATION


def stage_name(stage: str) -> str:
    """Return the name that every page has for a stage: that of its measure."""
    return measures.STAGE_TITLES.get(stage, stage.replace("_", " "))


def stage_meaning(stage: str) -> str:
    known = measures.STAGES.get(stage)
    return known.meaning if known is not None else MEANINGS.get(stage, "")


class StageTime(NamedTuple):
    """The time to a stage in words: `after 0.161 s`, `after at least 3.200 s`, `not within 4.0 s`,
    `no message was late`, or NOT_MEASURED. `note`: what had happened by then, or why it is not
    exact."""

    text: str
    note: str
    known: bool


def stage_time(
    row: Stage, outages: Iterable[WindowOutage] = (), after: str = "after "
) -> StageTime:
    """Return the time as `All counts` has it: a lower bound near zero says nothing. `outages`: of
    the run, by window."""
    meaning, reason = stage_meaning(row.stage), ended_by_fault(row)
    own = next((one for one in outages if one.window == row.window), None)
    if own is not None and own.never_late and row.stage == SUSTAINED:
        return StageTime(NEVER_LATE, "", known=True)
    if own is not None and own.no_backlog and row.stage == "backlog_drained":
        return StageTime(NO_BACKLOG, "", known=True)
    is_bound = bool(reason) or not row.reached
    near_zero = is_near_zero(row.after_ns / 1e9)
    if row.stage == SUSTAINED and near_zero and not is_bound:
        return StageTime(AT_ONCE, "", known=True)
    if is_bound and near_zero:
        return StageTime(NOT_MEASURED, reason_near_zero(reason) or CUT_SHORT, known=False)
    text = stage_text(row, f"{after}at least " if reason else after)
    return StageTime(text, "; ".join(filter(None, (meaning, str(reason)))), known=True)
