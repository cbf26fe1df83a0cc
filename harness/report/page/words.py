"""Numbers and times as people read them.

1. A number that may be larger says so (`≥ 3`); one that nobody knows reads `unknown`.
2. Times are seconds throughout, so that two of them can be compared at a glance.
"""

from harness.analyse.judge import Outcome
from harness.analyse.summary import Number

GLUE = "\u00a0"
BADGES = {
    Outcome.FAIL: ("fail", "✗", "FAIL"),
    Outcome.INCONCLUSIVE: ("open", "?", "INCONCLUSIVE"),
    Outcome.PASS: ("pass", "✓", "PASS"),
    Outcome.NOT_APPLICABLE: ("moot", "–", "NOT APPLICABLE"),
}
UNTRUE = ("open", "✗", "FAIL (WARNING)")  # a claim that predicts harm, of a broker that did none
CAME_TRUE = ("open", "✓", "PASS (WARNING)")  # and of one that did
STAGES = {
    "first_success": "something sent after the fault was confirmed",
    "sustained_success": "sending was on time again, and stayed so",
    "consumers_resumed": "something sent after the fault was delivered",
    "backlog_drained": "what had piled up was delivered",
    "route_changed": "the first name server showed another route",
    "route_changed_everywhere": "the last name server did",
}
MEASURES = {
    "lost": "Lost",
    "stranded": "Stranded",
    "unreachable": "In places that could not be read",
    "loss_unknown": "Not decided whether lost",
    "lost_indeterminate": "Never confirmed, never delivered",
    "revived": "Never confirmed, but delivered",
    "refused_but_delivered": "Refused, but delivered",
    "rolled_back_but_delivered": "Rolled back, but delivered",
    "torn_transaction": "Torn transactions",
    "early": "Delivered too early",
    "unexpected": "Delivered, but never sent",
    "corrupt": "Corrupt",
    "duplicated": "Delivered more than once",
    "reordered": "Out of order",
    "unrecorded": "Delivered, sender's log incomplete",
    "early_unknown": "Early, or the clocks are off",
    "rollback_unknown": "Delivered, perhaps rolled back",
    "missed": "Not confirmed within the deadline",
    "silence": "Silence",
    "degraded": "Degraded",
    **{name: name.replace("_", " ").capitalize() for name in STAGES},
}
MEANINGS = {
    "lost": "confirmed, never delivered, not found by the audit",
    "stranded": "confirmed, never delivered, found by the audit where no client looks",
    "unreachable": "confirmed and missing; a place that may hold it could not be read",
    "loss_unknown": "confirmed and missing; a queue was not drained, a log is incomplete, or "
    "messages may still have had to wait",
    "lost_indeterminate": "its outcome was unknown to the sender: no promise was broken",
    "revived": "its outcome was unknown to the sender, and it arrived",
    "duplicated": "surplus deliveries, by where they came from",
    "reordered": "first delivered after a later message of the same sender and key",
    "rolled_back_but_delivered": "its sender rolled the transaction back, and a consumer saw it",
    "torn_transaction": "committed, never delivered; the broker holds a half without the commit",
    "early": "deliveries before their time, by more than clocks can explain",
    "early_unknown": "deliveries before their time, by no more than clocks can explain",
    "rollback_unknown": "to be rolled back and delivered; its sender died or heard nothing, so "
    "nobody knows what the broker was told",
    "missed": "intended operations that were not confirmed in time",
    "silence": "the longest time without any confirm",
    "degraded": "from the fault until sending was on time again, and stayed so",
    **STAGES,
}


def count(number: float) -> str:
    return f"{number:,.0f}"


def seconds(number: float) -> str:
    """`0.003 s`, `0.13 s`, `61.9 s`, `3 min 20 s`; no line ends between a number and its unit."""
    if number >= 119.95:
        whole = round(number)
        return f"{whole // 60}{GLUE}min {whole % 60:02d}{GLUE}s"
    if number >= 9.995:
        return f"{number:.1f}{GLUE}s"
    if number >= 0.0995 or number == 0:
        return f"{number:.2f}{GLUE}s"
    return f"{number:.3f}{GLUE}s"


def share(number: float) -> str:
    """`0 %`, `0.02 %`, `4.3 %`, `25 %`: what is little must not read as nothing."""
    per_cent = 100 * number
    digits = 0 if per_cent >= 9.95 or not per_cent else 1 if per_cent >= 0.095 else 2
    least = per_cent and per_cent < 0.005
    return f"< 0.01{GLUE}%" if least else f"{per_cent:.{digits}f}{GLUE}%"


def after(at_ns: float) -> str:
    """An instant of run time, as verdict lines have it: `+13.467 s`."""
    return f"+{at_ns / 1e9:.3f} s"


def bound(number: Number) -> str:
    if number.least is None:
        return "unknown"
    return f"{'' if number.exact else '≥ '}{count(number.least)}"


def plural(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def untrue(warnings: int) -> str:
    """`1 warning did not come true`: of claims that predict harm."""
    return f"{plural(warnings, 'warning')} did not come true"


def of(number: int, total: int, noun: str) -> str:
    """`3 of 5 runs`; of one: `in the run`."""
    return f"{count(number)} of {plural(total, noun)}"


def measure_name(measure: str) -> str:
    return MEASURES.get(measure, measure.replace("_", " "))
