"""The tables of a published page: what the runs of each cell come to, and how sure that is.

1. No number without the runs behind it: n judged, k of them with the violation, the exact interval
   (rates.py). What could not be judged is a third number; a cell in which that is more than a
   fifth of the runs says so before anything else.
2. A median has its interval; a run that did not recover is a lower bound in it (medians.py). Where
   runs are too few for an interval, their values stand in its place.
3. Scenarios come in the order of the first run of each, systems in each likewise.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from harness.campaigns.packed import Packed
from harness.claims.articles import article_of
from harness.claims.claims import shipped_beside
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.medians import Time, median
from harness.compare.rates import Rate, Tried, too_many
from harness.judging.result import RunReport
from harness.plan.model import Cell
from harness.report.markdown import Markup, code, escaped, head, joined, row
from harness.report.page import formats
from harness.report.page.totals import (
    RunTotals,
    claims_of,
    loss_rate,
    times_of,
    totals_of,
    worst_of,
)
from harness.view.costs import BROKERS, known_median
from harness.view.grouping import by_key
from harness.view.naming import detail_name
from harness.view.routes import DROPPED, SHOWN, SILENT, Stretch
from harness.view.summary import NS, Out


def made(packs: Sequence[Packed]) -> Iterator[str]:
    """Which pack has which runs, and how they were made."""
    yield from head("pack", "what", "server", "runs", "made by")
    for pack in packs:
        cells = dict.fromkeys(joined(" on ", _place(run.cell)) for run in pack.runs)
        servers, runs = joined(", ", pack.servers) or NONE, str(len(pack.runs))
        yield row([code(pack.file), joined("; ", cells), servers, runs, code(pack.replay)])


def loss(packs: Sequence[Packed]) -> Iterator[str]:
    yield from head(
        *("scenario", "system", "runs", "confirmed", "lost"),
        *("runs with a loss", "rate over all runs", "came more than once: median of runs"),
    )
    for cell, runs in cells_of(packs):
        totals = RunTotals(runs)
        lost = Tried(loss_rate(totals), totals.runs - totals.loss_judged)
        numbers = formats.count(totals.confirmed), _lost(totals)
        surplus = joined("; ", _duplicates(runs)) or "0"
        yield row([*_place(cell), _runs(totals), *numbers, *_tried(lost), surplus])


def out(packs: Sequence[Packed]) -> Iterator[str]:
    """How long they were out, and what was late; of runs whose times are known."""
    yield from head(
        *("scenario", "system", "runs whose times are known", "out: median", "worst of several"),
        *("longest silence: median", "late"),
    )
    for cell, runs in cells_of(packs):
        known = len(_timed(runs))
        downtime = middle(out_of(runs), formats.seconds)
        silence = middle(silences(runs), formats.seconds)
        worst = _worst([run.summary.worst for run in runs if run.summary and run.summary.worst])
        first = *_place(cell), _known(known, len(runs) - known)
        yield row((*first, downtime, worst, silence, _late(runs)))


def promises(packs: Sequence[Packed]) -> Iterator[str]:
    """Each promise that was broken or not judged in a run, and how many were neither."""
    yield from head("scenario", "system", "promise", "broken in", "rate over all runs")
    for cell, runs in cells_of(packs):
        counted = _applying(runs, lambda one: one.is_promise)
        held: dict[str, list[str]] = {}
        for claim, one in counted.items():
            if not one.rate.violated and not one.not_judged:
                held.setdefault(_interval(one.rate), []).append(claim)
                continue
            runs_text = formats.plural(one.not_judged, "run")
            first = f"**not judged in {runs_text}**: " if one.mostly_unjudged else ""
            yield row((*_place(cell), Markup(f"{first}{code(claim)}"), *_tried(one)))
        for bounds, claims in held.items():
            of = counted[claims[0]].rate
            other = "other promise" if len(claims) < len(counted) else "promise"
            what = f"each of {formats.plural(len(claims), other)}"
            yield row([*_place(cell), what, f"0 of {of.runs}", bounds])


def foretold(packs: Sequence[Packed]) -> Iterator[str]:
    """Warnings, and claims about some cases: in how many runs they came true."""
    yield from head("scenario", "system", "what was foretold", "came true in", "that is")
    for cell, runs in cells_of(packs):
        for claim, one in _applying(runs, lambda one: not one.is_promise).items():
            came = one.came_true
            share = _share(came, _unknown(one.not_judged))
            yield row([*_place(cell), code(claim), share, _interval(came)])


def article_names() -> tuple[str, ...]:
    return tuple(one.name for one in shipped_beside().articles)


def articles(packs: Sequence[Packed], of: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield what the articles say, by all runs of a system together. `of`: the names of some."""
    yield from head("claim", "in English", "source", "system", "by these runs", "that is")
    named = of or article_names()
    runs = [run for pack in packs for run in pack.runs]
    for system in dict.fromkeys(run.cell[1] for run in runs):
        own = [run for run in runs if run.cell[1] == system]
        said = {one.claim: one for run in own for one in run.verdicts}
        for claim, one in _applying(own, lambda each: article_of(each.source) in named).items():
            verdict = said[claim]
            broken = verdict.is_promise
            found = one.rate if broken else one.came_true
            share = _share(found, _unknown(one.not_judged))
            result = f"{'broken' if broken else 'came true'} in {share}"
            first = code(claim), escaped(verdict.meaning), escaped(verdict.source)
            yield row([*first, escaped(system), result, _interval(found)])


def price(packs: Sequence[Packed]) -> Iterator[str]:
    """What each place costs while nothing is wrong, and how long each fault takes it out: medians
    over all runs of it; of times, over those in which they are known."""
    yield from head(
        *("system", "runs", "hosts", "memory of all hosts", "processor seconds a 1,000 messages"),
        *("half of confirms within", "99 % within", "out: median by fault", "lost"),
    )
    every = (run for _, runs in cells_of(packs) for run in runs)
    for place, runs in by_key(every, lambda run: run.cell[1:]).items():
        costs = [run.cost for run in runs if run.cost is not None]
        hosts = {cost.broker_hosts for cost in costs}
        memory = [cost.sum_of(BROKERS, "memory_median_bytes") for cost in costs]
        totals = RunTotals(runs)
        cpu = [cost.cpu_s_per_1000(BROKERS) for cost in costs]
        numbers = (
            middle_of(memory, lambda octets: f"{octets / 2**20:,.0f} MiB"),
            middle_of(cpu, "{:.2f} s".format),
            *(middle_of([each(c) for c in costs], "{:,.1f} ms".format) for each in _LATENCIES),
        )
        first = _where(place), _runs(totals)
        hosts_text = ", ".join(map(str, sorted(hosts - {0}))) or NONE
        outages = joined("; ", _out_by_fault(runs)) or NONE
        yield row((*first, hosts_text, *numbers, outages, _lost(totals)))


def carried(packs: Sequence[Packed]) -> Iterator[str]:
    """Yield how many messages a second each cell confirmed in the steady state, and what that
    took; of runs whose rate is known."""
    yield from head(
        *("scenario", "system", "runs whose rate is known", "confirmed a second: median"),
        *("half of confirms within", "99 % within", "processor seconds a 1,000 messages", "lost"),
    )
    for cell, runs in cells_of(packs):
        costs = [run.cost for run in runs if run.cost is not None]
        rates = [Time(one.confirmed_per_s) for one in costs if one.confirmed_per_s is not None]
        latencies = (middle_of(map(each, costs), "{:,.1f} ms".format) for each in _LATENCIES)
        cpu = middle_of((one.cpu_s_per_1000(BROKERS) for one in costs), "{:.2f} s".format)
        first = *_place(cell), _known(len(rates), len(runs) - len(rates))
        lost = _lost(RunTotals(runs))
        yield row((*first, middle(rates, "{:,.0f}".format), *latencies, cpu, lost))


_LATENCIES = attrgetter("p50_ms"), attrgetter("p99_ms")


def _out_by_fault(runs: Sequence[RunReport]) -> Iterator[Markup]:
    for scenario in dict.fromkeys(run.cell[0] for run in runs):
        times = out_of(run for run in runs if run.cell[0] == scenario)
        if times:
            yield Markup(f"{code(scenario)} {median(times).describe(formats.seconds)}")


def _applying(
    runs: Sequence[RunReport], wanted: Callable[[ClaimVerdict], bool]
) -> dict[str, Tried]:
    """Those that applied to a run; broken ones first, then those that were not always judged."""
    found = {
        claim: one.tried
        for claim, one in claims_of(runs).items()
        if wanted(one.first) and one.outcome is not ClaimOutcome.NOT_APPLICABLE
    }
    gravest = sorted(found.items(), key=lambda one: (-one[1].rate.violated, -one[1].not_judged))
    return dict(gravest)


def _place(cell: Cell) -> tuple[Markup, Markup]:
    return code(cell[0]), _where(cell[1:])


def _where(place: tuple[str, str, str]) -> Markup:
    system, layout, client = place
    return Markup(f"{escaped(system)} {code(layout)} {escaped(client)}")


def _runs(totals: RunTotals) -> str:
    """The third number comes first where it is more than a fifth."""
    judged = totals.runs - totals.unjudged
    if too_many(totals.unjudged, totals.runs):
        return f"**{totals.unjudged} of {totals.runs} not judged**, {judged} judged"
    return f"{judged} judged{f', {totals.unjudged} not' if totals.unjudged else ''}"


def _known(known: int, unknown: int) -> str:
    if too_many(unknown, known + unknown):
        return f"**not known of {unknown} of {known + unknown}**, known of {known}"
    return f"{known}{f', {unknown} not' if unknown else ''}"


def _lost(totals: RunTotals) -> str:
    parts = [formats.count(totals.lost)]
    parts += [f"{formats.count(totals.stranded)} stranded"] if totals.stranded else []
    undecided = totals.undecided_messages
    parts += [f"{formats.count(undecided)} undecided"] if undecided else []
    return ", ".join(parts)


def _share(of: Rate, unknown: str) -> str:
    share = f"{of.violated} of {of.runs}{unknown}"
    return f"**{share}**" if of.violated else share


def _unknown(number: int) -> str:
    return f", {number} not judged" if number else ""


def _tried(one: Tried) -> tuple[str, str]:
    return _share(one.rate, _unknown(one.not_judged)), _interval(one.rate)


def _interval(of: Rate) -> str:
    return of.bounds if of.runs else "anything"


def _worst(found: Sequence[Out]) -> str:
    if not found:
        return NONE
    one = max(found, key=attrgetter("seconds"))
    seconds = f"{'' if one.whole else '≥ '}{formats.seconds(one.seconds)}"
    back = "" if one.back else ", did not recover"
    return escaped(f"{one.scope} {one.name} of {one.of}: {seconds}{back}")


def _late(runs: Sequence[RunReport]) -> str:
    late = totals_of(runs).late
    if not late.operations:
        return NONE
    return f"{formats.share(late.share)} of {formats.plural(late.runs, 'run')}"


def _duplicates(runs: Sequence[RunReport]) -> Iterator[str]:
    """By what they came of, the most first; a run without any counts with none."""
    found = [run.summary.duplicates for run in runs if run.summary is not None]
    for name in totals_of(runs).duplicates:
        values = [Time(one.get(name, 0)) for one in found]
        yield f"{middle(values, '{:,g}'.format)} {detail_name('duplicated', name)}"


NONE = "-"
ToText = Callable[[float], str]


def cells_of(packs: Sequence[Packed]) -> Iterator[tuple[Cell, list[RunReport]]]:
    cells = by_key((run for pack in packs for run in pack.runs), lambda run: run.cell)
    scenarios = list(dict.fromkeys(cell[0] for cell in cells))
    places = list(dict.fromkeys(cell[1:] for cell in cells))
    order = sorted(cells, key=lambda cell: (scenarios.index(cell[0]), places.index(cell[1:])))
    yield from ((cell, cells[cell]) for cell in order)


def middle(times: Sequence[Time], to_text: ToText) -> str:
    """`11.2 s (9.0 s to 12.1 s)`, or `11.2 s [9.0 s; 11.2 s; ≥ 12.1 s]` of few."""
    if not times:
        return NONE
    found = median(times)
    middle = found.describe(to_text)
    if math.isfinite(found.high):
        unknown = f", {found.censored} did not recover" if found.censored else ""
        return f"{middle} ({to_text(found.low)} to {to_text(found.high)}{unknown})"
    ordered = sorted(times, key=lambda time: time.value)
    each = "; ".join(one.describe(to_text) for one in ordered)
    return f"{middle} [{each}]"


def middle_of(values: Iterable[float | None], to_text: ToText) -> str:
    """The median of those that are known."""
    found = known_median(values)
    return NONE if found is None else to_text(found)


def never_or(values: Sequence[float | None], never: str) -> str:
    """The median and each value of few; how many of them there were none of."""
    known = [Time(one) for one in values if one is not None]
    without = len(values) - len(known)
    if not known:
        return never
    text = middle(known, formats.seconds) if len(known) > 1 else formats.seconds(known[0].value)
    return f"{text}; {never} in {without} of {len(values)}" if without else text


def _timed(runs: Iterable[RunReport]) -> list[RunReport]:
    """Where the instrument stood still, or the records are doubted, no time is known."""
    return [run for run in runs if run.summary and run.summary.out_s.least is not None]


def out_of(runs: Iterable[RunReport]) -> list[Time]:
    """Return the total downtime of each run in which it is known."""
    return times_of(runs, lambda one: one.out_s)


def silences(runs: Iterable[RunReport]) -> list[Time]:
    """The longest silence of each, likewise."""
    return times_of(_timed(runs), lambda one: worst_of(one, "silence_s"))


def sends(packs: Sequence[Packed]) -> Iterator[str]:
    """Yield whose sends failed under a fault, and until when, by cell and name server."""
    yield from head(
        *("scenario", "layout", "client", "name server of publishers", "runs"),
        *("share that failed", "last failed after", "switched name server after"),
        "route without the master after",
    )
    for cell, runs in cells_of(packs):
        every = (one for run in runs if run.detail is not None for one in run.detail.failing)
        asking = (one for one in every if one.name_server and one.window == 1)
        for name_server, found in by_key(asking, lambda one: one.name_server).items():
            where = *map(code, (cell[0], cell[2])), *map(escaped, (cell[3], name_server))
            place = *where, str(len(found))
            share = middle_of([one.share for one in found], formats.share)
            last = never_or([one.last_failed_s for one in found], "none failed")
            turned = never_or([one.turned_s for one in found], "never")
            left_out = never_or([one.left_out_s for one in found], "never")
            yield row((*place, share, last, turned, left_out))


def dropped(packs: Sequence[Packed]) -> Iterator[str]:
    """When each name server dropped a master after the fault, and showed it again."""
    yield from head(
        *("scenario", "layout", "name server", "master", "runs"),
        *("fell silent after", "dropped it after", "showed it again after"),
    )
    for (scenario, layout, server, master), found in _views(packs).items():
        silent, gone, again = zip(*found, strict=True)
        if any(one is not None for one in (*silent, *gone)):
            place = code(scenario), code(layout), escaped(server), escaped(master)
            times = (never_or(each, "never") for each in (silent, gone, again))
            yield row((*place, str(len(found)), *times))


# What one run saw of a name server and a master, in seconds from the fault on: when the server
# fell silent, when it dropped the master, and when it showed it again after that.
_View = tuple[float | None, float | None, float | None]


def _views(packs: Sequence[Packed]) -> dict[tuple[str, str, str, str], list[_View]]:
    """Return views by scenario, layout, name server and broker. Clients do not matter to it."""
    found: dict[tuple[str, str, str, str], list[_View]] = {}
    for cell, runs in cells_of(packs):
        for timeline in (run.detail.timeline for run in runs if run.detail is not None):
            for one in timeline.routes.servers if timeline.faults else ():
                if one.is_master:
                    seen = _view(one.stretches, timeline.faults[0].issued_ns)
                    key = cell[0], cell[2], one.source, one.broker
                    found.setdefault(key, []).append(seen)
    return found


def _view(stretches: Iterable[Stretch], origin_ns: int) -> _View:
    later = [one for one in stretches if one.until_ns > origin_ns]
    gone_ns = _first(later, DROPPED, origin_ns)
    again_ns = None if gone_ns is None else _first(later, SHOWN, gone_ns)
    times_ns = _first(later, SILENT, origin_ns), gone_ns, again_ns
    silent_s, gone_s, again_s = (None if at is None else (at - origin_ns) / NS for at in times_ns)
    return silent_s, gone_s, again_s


def _first(stretches: Iterable[Stretch], state: str, after_ns: int) -> int | None:
    """When the first of them began, or the one that was under way."""
    begun = [one.from_ns for one in stretches if one.state == state and one.until_ns > after_ns]
    return max(after_ns, min(begun)) if begun else None
