"""How long it was out, in words: the whole of it, who was out beside, how sure that is.

1. *Out* is a run's total downtime (README). For several runs: the longest, the median, and in how
   many runs there was downtime, with the 95 % interval of that rate.
2. A lower bound is `≥`; an unknown time is no number, and never "no downtime".
"""

import math
from collections.abc import Iterable, Sequence

from harness.claims.served import reconnect_text
from harness.compare.rates import rate
from harness.judging.result import RunReport
from harness.judging.verdict_file import SpreadEntry
from harness.report.page import formats
from harness.report.page.totals import RunTotals, median_text, often_text
from harness.view.detail import Detail
from harness.view.grouping import by_key
from harness.view.naming import detail_name
from harness.view.summary import BOUND_LEAST_S, HOW_ENDED, NS, Out
from harness.view.timeline import FaultSpan
from spark_analysis.schema.service import RUN, SYSTEM, Outage

NOT_OUT = "no downtime"
BOUND = "downtime is a lower bound, because"
# Beside a downtime that is shorter than the longest time without a confirm.
SHORTER = (
    "Messages that waited no longer than their deadline are on time, so the downtime is shorter "
    "than the time without a confirm."
)
LONGER = "During the downtime other messages were confirmed."  # beside a longer one
OUTAGES_MAX = 3
LASTED = "fault lasted"
LEAST, AT_LEAST = "≥", "at least"  # marks of a lower bound: in a table, in a sentence
_NO_FAULT = "no fault was active"


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
    return "publishers" if totals.worst is None else "all publishers as one stream"


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


def worst_text(out: Out | None) -> str:
    """Return `the worst of 200 queues (q7): 40.0 s, did not recover`; a numbered publisher is
    `no. 2`."""
    if out is None:
        return ""
    name = f"no.{formats.GLUE}{out.name}" if out.name.isdigit() else out.name
    return f"the worst of {out.of} {out.scope}s ({name}): {length(out)}"


def worst_of_runs(totals: RunTotals) -> str:
    """Return the text of the queue or publisher that was unavailable for longest in any run; "" if
    it only repeats the longest downtime."""
    if is_repeated(totals.worst, totals.longest):
        return ""
    return worst_text(totals.worst)


def is_repeated(part: Out | None, whole: Out | None) -> bool:
    """Return whether the downtime of a queue or publisher reads like that of the whole run."""
    return part is not None and whole is not None and length(part) == length(whole)


def drawn(found: Sequence[Out]) -> tuple[Out, ...]:
    """Return the outages of a run to draw, without a queue or publisher that only repeats it."""
    return tuple(one for one in found if one.scope == RUN or not is_repeated(one, found[0]))


def length(out: Out) -> str:
    """`40.0 s in 2 outages, did not recover`; without a number if stalls may be all of it."""
    lasted = f"{'' if out.whole else f'≥{formats.GLUE}'}{formats.seconds(out.seconds)}"
    if out.stalled_s and not out.seconds:
        lasted = "unknown, perhaps all stalls of mqproof"
    times = f" in {formats.plural(out.times, 'outage')}" if out.times > 1 else ""
    back = "" if out.back else ", did not recover"
    return f"{lasted}{times}{back}"


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
    fault that was undone before it may still be its cause."""
    if spell.ended != SYSTEM or spell.windows:
        return HOW_ENDED[spell.ended]
    undone = [(one.ended_ns, one.gone) for one in faults if one.ended_ns is not None]
    before = [one for one in undone if one[0] <= spell.from_ns]
    if not before:
        return _NO_FAULT
    ended_ns, gone = max(before, key=lambda one: one[0])
    after = formats.seconds((spell.from_ns - ended_ns) / NS)
    which = "the fault" if len(faults) == 1 else "the last one"
    text = f"{_NO_FAULT}: {which} had been undone {after} before"
    if gone is None or not gone.ok or gone.at_ns > spell.from_ns:
        return text
    return f"{text}, verified ended {formats.seconds((spell.from_ns - gone.at_ns) / NS)} before"


def _begun_ns(faults: Sequence[FaultSpan]) -> int | None:
    """Return when the first fault began; None: none did."""
    return min((one.issued_ns for one in faults if one.opened), default=None)


def since_fault(at_ns: int, faults: Sequence[FaultSpan]) -> str:
    """Return `26.1 s after the fault began`: the time of all results; near zero `the beginning of
    the fault`. The first of several faults counts. Without a fault the time of the run:
    `+58.8 s`."""
    begun_ns = _begun_ns(faults)
    if begun_ns is None:
        return f"+{at_ns / NS:.1f}{formats.GLUE}s"
    after_s = (at_ns - begun_ns) / NS
    side = "after" if after_s >= 0 else "before"
    which = "the fault" if len(faults) == 1 else "the first fault"
    if abs(after_s) < BOUND_LEAST_S:
        return f"the beginning of {which}"
    return f"{abs(after_s):.1f}{formats.GLUE}s {side} {which} began"


def spell_text(
    spell: Outage, faults: Sequence[FaultSpan] = (), least: str = LEAST, stalled_s: float = 0.0
) -> str:
    """Return an outage: `outage of queue q7: ≥ 40.0 s, from 0.3 s after the fault began
    (+12.3 s): did not recover …`. `faults`: of the run. `least` marks a lower bound. `stalled_s`:
    stalls may have made it longer by so much."""
    who = "outage" if spell.scope == RUN else f"outage of {spell.scope} {spell.name}"
    measured_s = (spell.until_ns - spell.from_ns) / NS
    mark = "" if spell.ended == SYSTEM and not stalled_s else f"{least}{formats.GLUE}"
    lasted = formats.less_stalls(measured_s, stalled_s, mark)
    since, at = since_fault(spell.from_ns, faults), since_fault(spell.from_ns, ())
    clock = f" ({at})" if since != at else ""
    late = f"{formats.count(spell.bad)} of {formats.plural(spell.due, 'message')} due were late"
    text = f"{who}: {lasted}, from {since}{clock}; {_end_text(spell, faults)}; {late}"
    return "; ".join(filter(None, (text, _reconnecting(spell, faults))))


def _reconnecting(spell: Outage, faults: Sequence[FaultSpan]) -> str:
    """Return that an outage lies between a fault and the time from which on service after it is
    judged; "" if it does not."""
    over = (one for one in faults if one.ended_ns is not None and one.ended_ns <= spell.from_ns)
    healed_ns = (one.healed_from_ns for one in over if one.healed_from_ns is not None)
    until_ns = next((ns for ns in healed_ns if spell.until_ns <= ns), None)
    if until_ns is None:
        return ""
    lies = reconnect_text(until_ns)
    return f"the outage {lies}, so claims about service after the fault do not count it"


def answered(spell: Outage, detail: Detail | None) -> str:
    """Return `; answers to the messages due then: 283 confirmed …`, and when overlapping faults
    left no majority; "" if they are unknown."""
    if detail is None:
        return ""
    met = dict.fromkeys(str(one) for one in detail.minorities if one.meets(spell))
    answers = detail.answers.get(spell.from_ns) if spell.scope == RUN else ""
    texts = (*met, f"answers to the messages due then: {answers}" if answers else "")
    return "".join(f"; {text}" for text in texts if text)


def outage_texts(run: RunReport, least: str = LEAST) -> list[str]:
    """Return the outages of a run, OUTAGES_MAX at most and the rest counted; without one those of
    its worst queue or publisher; none if they are not decided. `least` marks a lower bound."""
    known = run.summary
    if known is None or known.out_s.least is None:
        return []
    spans = run.detail.timeline.faults if run.detail is not None else ()
    out = known.outs[0] if known.out_s.least else known.worst
    spells, stalled_s = (out.spells, out.stalled_s) if out is not None else ((), 0.0)
    texts = [
        f"{spell_text(one, spans, least, stalled_s)}{answered(one, run.detail)}"
        for one in spells[:OUTAGES_MAX]
    ]
    more = out.times - len(texts) if out is not None else 0
    return [*texts, f"{formats.plural(more, 'more outage')}"] if more else texts


def logs_of_brokers(run: RunReport) -> str:
    return f"runs/{run.name.rpartition('/')[2]}/broker_logs/"


def lasted_text(runs: Sequence[RunReport]) -> str:
    """Return how long the faults of a cell lasted, until each was undone: `10.2 s`, of several
    faults `10.2 s; 20.1 s`, of several runs `10.2 to 10.4 s`; "" if no fault began."""
    details = (run.detail.timeline.faults for run in runs if run.detail is not None)
    spans = by_key((one for own in details for one in own if one.opened), lambda one: one.number)
    return "; ".join(_lasted(own) for _, own in sorted(spans.items()))


def all_lengths_text(runs: Sequence[RunReport]) -> str:
    """Return how long all faults of these runs lasted: `10.6 to 22.4 s`; "" if none began."""
    details = (run.detail.timeline.faults for run in runs if run.detail is not None)
    spans = [one for own in details for one in own if one.opened]
    return _lasted(spans) if spans else ""


def fault_lengths_s(runs: Sequence[RunReport]) -> list[float]:
    """Return how long the only fault of each run lasted; empty if a run has several, or one that
    was never undone."""
    found = [run.summary.outages if run.summary is not None else () for run in runs]
    lengths_s = [own[0].lasted_s for own in found if len(own) == 1]
    known = [one for one in lengths_s if one is not None]
    return known if len(known) == len(found) else []


def _lasted(spans: Iterable[FaultSpan]) -> str:
    lengths_s = {
        math.inf if one.ended_ns is None else (one.ended_ns - one.issued_ns) / NS for one in spans
    }
    ends = [f"{least:.1f}" for least in (min(lengths_s), max(lengths_s))]
    if math.isinf(max(lengths_s)):
        return "not undone" if math.isinf(min(lengths_s)) else "not undone in some runs"
    return f"{' to '.join(dict.fromkeys(ends))}{formats.GLUE}s"


def fault_text(title: str, span: FaultSpan, faults: Sequence[FaultSpan]) -> str:
    """Return `kill ref1, undone after 20.7 s, verified ended after 24.1 s`; of a later fault with
    its begin: `kill ref2, 12.0 s after the first fault began, undone …`."""
    parts = [title]
    if span.issued_ns > (_begun_ns(faults) or 0):
        parts.append(since_fault(span.issued_ns, faults))
    ended = "never undone"
    if span.ended_ns is not None:
        ended = f"undone after {(span.ended_ns - span.issued_ns) / NS:.1f}{formats.GLUE}s"
    parts.append(ended)
    if span.gone is not None and span.gone.ok:
        gone_s = (span.gone.at_ns - span.issued_ns) / NS
        parts.append(f"verified ended after {gone_s:.1f}{formats.GLUE}s")
    return ", ".join(parts)


def late_then(totals: RunTotals) -> str:
    """Return `51 of 100 messages due then were late`, of the run with the longest downtime; ""
    without one. Downtime need not stop every message. The messages of several outages are counted
    together: `all 90 messages due in the 2 outages were late`."""
    spells = totals.longest.spells if totals.longest is not None and totals.is_out else ()
    due, late = sum(one.due for one in spells), sum(one.bad for one in spells)
    when = f"in the {formats.plural(len(spells), 'outage')}" if len(spells) > 1 else "then"
    of = "all" if due == late > 1 else f"{formats.count(late)} of"
    # Those that were never sent are counted by run, not by outage.
    alone = totals.runs == 1 and late == totals.late.missed
    unsent = f" ({formats.count(totals.unsent)} never sent)" if alone and totals.unsent else ""
    return f"{of} {formats.plural(due, 'message')} due {when} were late{unsent}" if due else ""


def compared_text(totals: RunTotals) -> str:
    """Return why the downtime is shorter than the longest time without a confirm, or an outage
    longer; "" if neither is sure."""
    silent_s = totals.silence.maximum_s if totals.silence is not None else 0.0
    out = totals.total_downtime
    if out is not None and not out.bound and 0 < out.maximum_s < silent_s:
        return SHORTER
    if totals.silence is None or totals.silence.bound or totals.runs > 1 or not totals.is_out:
        return ""
    spells = totals.longest.spells if totals.longest is not None else ()
    begun_ns = _begun_ns(totals.spans) or 0
    after = (one for one in spells if one.from_ns >= begun_ns)  # the silence is of that time, too
    longest_s = max(((one.until_ns - one.from_ns) / NS for one in after), default=0.0)
    return LONGER if longest_s > silent_s else ""


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


def backlog_text(totals: RunTotals) -> str:
    """Return how many messages consumers had not received when the load ended, of several runs
    the most: `when the load ended, consumers had not received 231 confirmed messages (backlog)`;
    "" if no run is known to have ended so."""
    if not totals.backlogs:
        return ""
    known = [one for one in totals.backlogs if one is not None]
    what = "all confirmed messages"
    if len(known) == len(totals.backlogs):
        what = formats.plural(max(known), "confirmed message")
        what = f"up to {what}" if len(known) > 1 else what
    runs = f" in {formats.of(len(totals.backlogs), totals.runs, 'run')}"
    when = f"when the load ended{runs if totals.runs > 1 else ''}"
    return f"{when}, consumers had not received {what} (backlog)"


def late_text(totals: RunTotals) -> str:
    """Return `27 of 990 messages due from the first fault on were late (2.7 %), 20 of them in the
    outage, from 26.1 s after the fault began`; "" where nothing broke."""
    late = totals.late
    if not late.operations:
        return "late: not decided" if totals.judged > totals.outage_decided_runs else ""
    of = f" (of {late.runs} of {totals.runs} runs)" if late.runs < totals.runs else ""
    if not late.missed:
        return f"from the first fault on, no message was late{of}"
    due = f"{formats.count(late.missed)} of {formats.plural(late.operations, 'message')}"
    unsent = f"; {formats.count(totals.unsent)} never sent" if totals.unsent else ""
    share = f"({formats.share(late.share)}{unsent})"
    return f"{due} due from the first fault on were late {share}{of}{_in_outages(totals)}"


def _in_outages(totals: RunTotals) -> str:
    """Return how many of the late messages were due in outages, and when; "" if the outages are
    not all known, began before the fault, or are of several runs."""
    out, begun_ns = totals.longest, _begun_ns(totals.spans)
    if not totals.is_out or out is None or begun_ns is None or out.times > len(out.spells):
        return ""
    inside, first = sum(one.bad for one in out.spells), out.spells[0]
    if first.from_ns < begun_ns:
        return ""
    many = "all" if inside == totals.late.missed else formats.count(inside)
    which = "the outage" if out.times == 1 else f"the {formats.count(out.times)} outages"
    alone = out.times == 1 and first.ended == SYSTEM and not first.windows
    tail = f" ({_end_text(first, totals.spans)})" if alone else ""
    begin = "from" if out.times == 1 else "the first from"
    since = since_fault(first.from_ns, totals.spans)
    return f", {many} of them in {which}, {begin} {since}{tail}"


def longest(spread: SpreadEntry, totals: RunTotals, least: str = LEAST) -> str:
    """Return the longest time; a lower bound if some run's time is unknown and may be longer."""
    bound = spread.bound or totals.outage_decided_runs < totals.runs
    return f"{f'{least}{formats.GLUE}' if bound else ''}{formats.seconds(spread.maximum_s)}"
