"""How long it was out, in words: the whole of it, who was out beside, how sure that is.

1. *Out* is a run's total downtime (README). For several runs: the longest, the median, and in how
   many runs there was downtime, with the 95 % interval of that rate.
2. A lower bound is `≥`; an unknown time is no number, and never "no downtime".
"""

from collections.abc import Sequence

from harness.compare.rates import rate
from harness.judging.verdict_file import SpreadEntry
from harness.report.page import formats
from harness.report.page.totals import RunTotals, median_text, often_text
from harness.view.naming import detail_name
from harness.view.summary import NS, Out
from harness.view.timeline import FaultSpan
from spark_analysis.schema.digest import GOOD_S
from spark_analysis.schema.service import EITHER, NEVER, RUN, SYSTEM, UNDO, UNKNOWN, Outage

NOT_OUT = "no downtime"
# Beside a downtime that is shorter than the longest time without a confirm.
SHORTER = (
    "Messages that waited no longer than their deadline are on time, so the downtime is shorter "
    "than the time without a confirm."
)
LEAST, AT_LEAST = "≥", "at least"  # marks of a lower bound: in a table, in a sentence
_RECOVERED = "clients or brokers recovered by themselves"
_ENDED = {
    SYSTEM: f"the undo of the fault did not end it: {_RECOVERED}",
    UNDO: "the undo of the fault ended it, so it may have lasted longer without the undo",
    EITHER: "the system or the undo of the fault ended it",
    UNKNOWN: "its end is unknown",
    NEVER: "did not recover before the load ended",
}
# Why a part may have more downtime than the whole.
_OWN_MESSAGES = (
    " (of its own messages; the downtime for all publishers counts those of all together)"
)
_NO_FAULT = "no fault was active then"


def out_text(totals: RunTotals, least: str = LEAST) -> str:
    """Return the longest of its runs: `14.2 s`, `≥ 33.0 s`, `no downtime`, `unknown`, `no fault`.
    If it is unknown of some runs and none shows an outage: `no downtime seen`. `least` marks a
    lower bound."""
    out = totals.total_downtime
    if out is not None and out.maximum_s:
        return longest(out, totals, least)
    if out is not None and totals.faults:
        return NOT_OUT if totals.is_fine else "no downtime seen"
    if not totals.judged:
        return "not judged" if totals.runs else "–"
    if totals.faults or totals.outage_decided_runs < totals.judged:
        return "unknown"
    return "no fault"


def out_phrase(totals: RunTotals) -> str:
    """Return `downtime 14.2 s`; of several runs `worst run: downtime 14.2 s`; `no downtime`,
    `downtime: unknown`."""
    text = out_text(totals)
    if totals.is_out:
        return f"{'worst run: ' if has_several(totals) else ''}downtime {text}"
    return text if totals.total_downtime is not None else f"downtime: {text}"


def has_several(totals: RunTotals) -> bool:
    """Return whether the downtime is known of several runs: then pages name the run it is of."""
    return totals.total_downtime is not None and totals.total_downtime.runs > 1


def losses(totals: RunTotals) -> list[str]:
    """Return `≥ 37 lost`, `≥ 4 stranded`: those that there are."""
    least = "≥ " if totals.loss_open else ""
    counts = ((totals.lost, "lost"), (totals.stranded, "stranded"))
    return [f"{least}{formats.count(number)} {word}" for number, word in counts if number]


def lost_parts(totals: RunTotals, lost: str) -> list[str]:
    """`lost 37`, `stranded at least 4`. `lost`: how what was lost is counted."""
    least = "at least " if totals.loss_open else ""
    parts = [f"lost {least}{lost}"] if totals.lost else []
    stranded = f"stranded {least}{formats.count(totals.stranded)}"
    return [*parts, stranded] if totals.stranded else parts


def clients_text(totals: RunTotals) -> str:
    """Return whose downtime that of the whole run is: that of a single queue or publisher may be
    longer."""
    return "publishers" if totals.worst is None else "all publishers together"


def rate_text(totals: RunTotals) -> str:
    """Return `downtime in 3 of 3 runs (95 % CI: 29 to 100 %)`, of the runs that show it."""
    out = totals.total_downtime
    if out is None:
        return ""
    return often_text(rate(totals.downtime_runs, out.runs), "downtime", totals)


def spread_text(totals: RunTotals) -> str:
    """`median 12.5 s (11.0 s to 14.1 s)`, where there are several runs."""
    out = totals.total_downtime
    return f"median {median_text(out)}" if out and out.runs > 1 and out.maximum_s else ""


def worst_text(out: Out | None, together_s: float | None = None) -> str:
    """Return `the worst of 200 queues (q7): 40.0 s, did not recover`; a numbered publisher is
    `no. 2`. `together_s`: the downtime for all publishers together. If that is shorter, the
    text says what each number counts."""
    if out is None:
        return ""
    name = f"no.{formats.GLUE}{out.name}" if out.name.isdigit() else out.name
    text = f"the worst of {out.of} {out.scope}s ({name}): {length(out)}"
    if together_s is None or together_s >= out.seconds:
        return text
    return f"{text}{_OWN_MESSAGES}"


def worst_of_runs(totals: RunTotals) -> str:
    """Return the text of the queue or publisher that was unavailable for longest in any run; "" if
    it only repeats the longest downtime."""
    if is_repeated(totals.worst, totals.longest):
        return ""
    return worst_text(totals.worst, totals.longest_out_s)


def is_repeated(part: Out | None, whole: Out | None) -> bool:
    """Return whether the downtime of a queue or publisher reads like that of the whole run."""
    return part is not None and whole is not None and length(part) == length(whole)


def length(out: Out) -> str:
    """`40.0 s in 2 outages, did not recover`."""
    mark = "" if out.whole else f"≥{formats.GLUE}"
    times = f" in {formats.plural(out.times, 'outage')}" if out.times > 1 else ""
    back = "" if out.back else ", did not recover"
    return f"{mark}{formats.seconds(out.seconds)}{times}{back}"


def history_text(totals: RunTotals) -> str:
    """` in 2 outages, did not recover in 1 of 3 runs`: what the longest time is made of."""
    times = totals.longest.times if totals.longest is not None else 0
    text = f" in {formats.plural(times, 'outage')}" if times > 1 else ""
    if not totals.not_back:
        return text
    of = f" in {formats.of(totals.not_back, totals.runs, 'run')}" if totals.runs > 1 else ""
    return f"{text}, did not recover{of}"


def _end_text(spell: Outage, faults: Sequence[FaultSpan]) -> str:
    """Return how an outage ended. One that no fault overlaps has no undo to speak of; the last
    fault that had ended by then may still be its cause."""
    if spell.ended != SYSTEM or spell.windows:
        return _ENDED[spell.ended]
    before = [
        (one.gone.at_ns, one)
        for one in faults
        if one.gone is not None and one.gone.ok and one.gone.at_ns <= spell.from_ns
    ]
    if not before:
        return f"{_NO_FAULT}; {_RECOVERED}"
    gone_ns, last = max(before, key=lambda each: each[0])
    after = formats.seconds((spell.from_ns - gone_ns) / NS)
    name = f"fault {last.number} ({last.words})"
    return f"{_NO_FAULT}: it began {after} after {name} was verified ended; {_RECOVERED}"


def spell_text(
    spell: Outage, zero_ns: int, faults: Sequence[FaultSpan] = (), least: str = LEAST
) -> str:
    """Return an outage: `outage of queue q7: ≥ 40.0 s from +12.3 s: did not recover …`.
    `zero_ns`: the instant of the first fault (`from 0.3 s after the first fault began`), or 0 for
    times of the run. `faults`: of the run. `least` marks a lower bound."""
    who = "outage" if spell.scope == RUN else f"outage of {spell.scope} {spell.name}"
    mark = "" if spell.ended == SYSTEM else f"{least} "
    lasted = f"{mark}{formats.seconds((spell.until_ns - spell.from_ns) / NS)}"
    at_s = (spell.from_ns - zero_ns) / NS
    at = f"+{at_s:.1f} s"
    if zero_ns:
        at = f"{abs(at_s):.1f} s {'after' if at_s >= 0 else 'before'} the first fault began"
    late = f"{formats.count(spell.bad)} of {formats.plural(spell.due, 'message')} due were late"
    return f"{who}: {lasted} from {at}; {_end_text(spell, faults)}; {late}"


def late_then(totals: RunTotals) -> str:
    """Return `51 of 100 messages due then were late`, of the run with the longest downtime; ""
    without one. Downtime need not stop every message. The messages of several outages are counted
    together: `all 90 messages due in the 2 outages were late`."""
    spells = totals.longest.spells if totals.longest is not None and totals.is_out else ()
    due, late = sum(one.due for one in spells), sum(one.bad for one in spells)
    when = f"in the {formats.plural(len(spells), 'outage')}" if len(spells) > 1 else "then"
    of = "all" if due == late > 1 else f"{formats.count(late)} of"
    return f"{of} {formats.plural(due, 'message')} due {when} were late" if due else ""


def shorter_text(totals: RunTotals) -> str:
    """Return why nothing was confirmed for longer than the downtime; "" if that is not so."""
    silent_s = totals.silence.maximum_s if totals.silence is not None else 0.0
    return SHORTER if 0 < totals.longest_out_s < silent_s else ""


def duplicates_text(totals: RunTotals) -> str:
    """Return `113 delivered more than once (sent again by its publisher)`; of several causes each
    with its number; "" if none was."""
    number = sum(totals.duplicates.values())
    if not number:
        return ""
    alone = len(totals.duplicates) == 1
    causes = (
        f"{'' if alone else f'{formats.count(many)} '}{detail_name('duplicated', cause)}"
        for cause, many in totals.duplicates.items()
    )
    return f"{formats.count(number)} delivered more than once ({'; '.join(causes)})"


def silent_text(totals: RunTotals, least: str = LEAST) -> str:
    """Return the longest time without any confirm; "" if it is unknown."""
    return "" if totals.silence is None else longest(totals.silence, totals, least)


def late_text(totals: RunTotals) -> str:
    """Return `27 of 990 messages due from the first fault on were late (2.7 %); most of these
    messages were due after …`; "" where nothing broke."""
    late = totals.late
    if not late.operations:
        return "late: not decided" if totals.judged > totals.outage_decided_runs else ""
    of = f" (of {late.runs} of {totals.runs} runs)" if late.runs < totals.runs else ""
    if not late.missed:
        return f"from the first fault on, no message was late{of}"
    due = f"{formats.count(late.missed)} of {formats.plural(late.operations, 'message')}"
    share = f"({formats.share(late.share)})"
    return f"{due} due from the first fault on were late {share}{of}{later(totals)}"


def later(totals: RunTotals) -> str:
    """Return how many of the late messages came after sending had been on time for GOOD_S."""
    if not totals.late_later:
        return ""
    much = "most" if 2 * totals.late_later > totals.late.missed else "some"
    since = f"service had been normal again for at least {GOOD_S}{formats.GLUE}s"
    return f"; {much} of these messages were due after {since}"


def longest(spread: SpreadEntry, totals: RunTotals, least: str = LEAST) -> str:
    """Return the longest time; a lower bound if some run's time is unknown and may be longer."""
    bound = spread.bound or totals.outage_decided_runs < totals.runs
    return f"{f'{least}{formats.GLUE}' if bound else ''}{formats.seconds(spread.maximum_s)}"
