"""What is compared: systems in their layouts, each with a letter, and its verdict in plain words.

1. A place is a system in one layout, driven by one client. Layouts of a system stand together.
2. Every verdict says three things, whatever is known of them: what was lost of what was confirmed,
   how long it was out, and in how many runs that is proved.
3. Of runs that were not judged nothing is said but that, and why; they are never a 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from textwrap import shorten

from harness.judging.result import Report, RunReport
from harness.report.page import formats
from harness.report.page.comparison.naming import Titles, names
from harness.report.page.comparison.timers import timers_text
from harness.report.page.outs import (
    is_out,
    late_text,
    later,
    out_text,
    rate_text,
    silent_text,
    worst_text,
)
from harness.report.page.totals import Cell, RunTotals, loss_rate, median_text, totals_of

PLACES_MAX = 8  # of more, each has a column too narrow to read; the matrix of cells shows them
DOUBT_MAX = 140  # characters; the whole of it stands with its run
RETURNED = "all failed hosts returned with their disks, so no disk was left unread"
DEPLOYMENTS = {"local": "as processes", "compose": "in containers", "external": "on your cluster"}
Key = tuple[str, str, str]  # system, layout, client


@dataclass(frozen=True, slots=True)
class Place:
    """One system in one layout. `names` are its own words, for commands and files."""

    key: Key
    letter: str
    system: str
    layout: str
    names: str
    deployment: str
    runs: tuple[RunReport, ...]
    scenarios: int  # that it had
    totals: RunTotals
    timers: str  # in words; "" where they are not known
    name: str  # by what tells it from the others (naming.py)
    about: str  # what its name does not say, of system, layout and client


@dataclass(frozen=True, slots=True)
class VerdictView:
    """One place's verdict: a word and two numbers at a glance, and the sentences behind them.

    `edge`: its tone as a whole; nothing lost is not well where it was out. `medians`: scenario,
    `12.5 s`, `2 of 2`; `unknown`: scenarios whose outage is unknown.
    """

    place: Place
    tone: str
    edge: str
    sign: str
    word: str
    loss_often: str  # in how many runs it lost, and how sure that is
    out: str
    often: str  # the same of being out
    worst: str  # which queue or publisher was unavailable for longest
    late: str
    returned: str  # RETURNED, where that is so: then no disk was missing
    lost_known: str  # `decided in 5 of 7 runs`; "" where in all
    out_known: str
    tried: str
    sentences: tuple[str, ...]
    medians: tuple[tuple[str, str, str], ...]
    unknown: tuple[str, ...]


def places(report: Report) -> tuple[Place, ...]:
    """In the order of their first runs, but layouts of one system one after the other. A place to
    which no scenario applies is one, too."""
    every = [run.cell for run in report.runs] + [one.cell for one in report.skipped]
    keys = list(dict.fromkeys(cell[1:] for cell in every))
    systems = list(dict.fromkeys(system for system, _, _ in keys))
    keys.sort(key=lambda key: systems.index(key[0]))
    titles = {key: _titles(key, report) for key in keys}
    named = names(keys, titles)
    return tuple(
        _place(key, _letter(number), report, titles, named[key]) for number, key in enumerate(keys)
    )


def scenarios_of(compared: Sequence[Place], skipped: Iterable[Cell] = ()) -> tuple[str, ...]:
    """Those that most places had come first; otherwise in their order. Skipped ones come last."""
    had = [{run.cell[0] for run in place.runs} for place in compared]
    names = dict.fromkeys(run.cell[0] for place in compared for run in place.runs)
    names |= dict.fromkeys(cell[0] for cell in skipped)
    return tuple(sorted(names, key=lambda name: -sum(name in own for own in had)))


def verdict(place: Place, scenarios: int) -> VerdictView:
    """`scenarios`: how many the whole report has."""
    totals = place.totals
    tone, sign, word = glance(totals)
    by_scenario = tuple(_by_scenario(place))
    return VerdictView(
        place=place,
        tone=tone,
        edge=edge(tone, totals),
        sign=sign,
        word=word,
        loss_often=loss_rate(totals).describe("lost") if totals.loss_judged else "",
        out="? mostly unknown" if _mostly_unknown(totals) else out_text(totals),
        often=f"downtime {rate_text(totals)}"
        if totals.out is not None and totals.faults_of
        else "",
        worst=worst_text(totals.worst),
        late=late_text(totals),
        returned=RETURNED if totals.hosts_returned else "",
        lost_known=_known(totals.loss_proved, totals),
        out_known=_out_known(totals),
        tried=_tried(place, scenarios),
        sentences=tuple(one for one in (_loss(totals), _outage(place), _proof(totals)) if one),
        medians=tuple(_median(name, own) for name, own in by_scenario if own.out is not None),
        unknown=tuple(name for name, own in by_scenario if own.out is None),
    )


def glance(totals: RunTotals) -> tuple[str, str, str]:
    """Tone, sign and words of what was lost."""
    if not totals.runs:
        return "not_applicable", "–", "does not apply"
    if not totals.judged:
        return "open", "?", "not judged"
    undecided = totals.loss_proved < totals.judged
    if totals.lost or totals.stranded:
        least = "≥ " if undecided else ""
        parts = [f"{least}{formats.count(totals.lost)} lost"] if totals.lost else []
        parts += [f"{formats.count(totals.stranded)} stranded"] if totals.stranded else []
        return "fail", "✗", ", ".join(parts)
    if not totals.confirmed:
        return "open", "?", "nothing confirmed"
    if undecided:
        return "open", "?", "no loss found"
    return "pass", "✓", "0 lost"


def edge(tone: str, totals: RunTotals) -> str:
    """Nothing lost is not well where it was out."""
    return "out" if tone == "pass" and is_out(totals) else tone


def listed(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _place(key: Key, letter: str, report: Report, titles: Titles, name: str) -> Place:
    runs = tuple(run for run in report.runs if run.cell[1:] == key)
    system, layout = titles[key]
    return Place(
        key=key,
        letter=letter,
        system=system,
        layout=layout,
        names=" · ".join(key),
        deployment=_deployment(runs),
        runs=runs,
        scenarios=len({run.cell[0] for run in runs}),
        totals=totals_of(runs),
        timers=timers_text(runs[0].cell, runs) if runs else "",
        name=name,
        about=". ".join(part for part in (system, layout) if part != name),
    )


def _titles(key: Key, report: Report) -> tuple[str, str]:
    """Of system and layout, in words; what has none is called as it calls itself."""
    found = (title for cell, title in report.titles.items() if cell[1:] == key)
    title = next(found, None)
    return (title.system, title.layout) if title else key[:2]


def _letter(number: int) -> str:
    """`A` to `Z`, then `A2`: more than 26 are possible, if never shown side by side."""
    turn, place = divmod(number, len(ascii_uppercase))
    return f"{ascii_uppercase[place]}{turn + 1 if turn else ''}"


def _deployment(runs: Iterable[RunReport]) -> str:
    found = dict.fromkeys(
        DEPLOYMENTS.get(run.cost.deployment, run.cost.deployment) for run in runs if run.cost
    )
    return " and ".join(found)


def _loss(totals: RunTotals) -> str:
    if not totals.runs:
        return "None of these scenarios applies to it; the reasons are below the table."
    if not totals.judged:
        why = totals.doubts[0][0] if totals.doubts else "no reason was recorded"
        return f"Nothing was judged in {formats.plural(totals.runs, 'run')}: {why}."
    runs = formats.plural(totals.judged, "run")
    if not totals.confirmed:
        return f"It confirmed nothing in {runs}, so nothing can be said to be lost."
    of = f"the {formats.plural(totals.confirmed, 'message')} that it had confirmed"
    if not totals.lost and not totals.stranded:
        if totals.loss_proved == totals.judged:
            return f"It lost none of {of}, in {runs}."
        return f"No loss was found among {of}, in {runs}{_untold(totals)}."
    least = "at least " if totals.loss_proved < totals.judged else ""
    missing = f"{least}{formats.count(totals.lost + totals.stranded)}"
    where = f"in {totals.runs_with_loss} of {runs}"
    ends = (
        [f"{formats.count(totals.lost)} {_are(totals.lost)} lost for good"] if totals.lost else []
    )
    if totals.stranded:
        whole = "" if totals.lost else "all "
        ends.append(
            f"{whole}{formats.count(totals.stranded)} {_are(totals.stranded)} stranded, still "
            "on a disk where no client gets at them"
        )
    text = f"{missing} of {of} never reached a consumer ({where}): {', '.join(ends)}"
    return f"{text[:1].upper()}{text[1:]}{_untold(totals)}."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _untold(totals: RunTotals) -> str:
    if totals.untold:
        return f"; {formats.count(totals.untold)} more cannot be decided"
    undecided = totals.judged - totals.loss_proved
    return (
        f"; {formats.of(undecided, totals.judged, 'run')} cannot be decided" if undecided else ""
    )


def _outage(place: Place) -> str:
    totals = place.totals
    if not totals.judged:
        return ""
    if not totals.faults_of and not is_out(totals):
        return "Nothing was broken on purpose."
    if totals.out is None:
        return "How long it was unavailable is not decided."
    missed, publishes, _ = totals.late
    late = ""
    if missed:
        late = (
            f"; from the faults on, {formats.share(missed / publishes)} were not confirmed "
            f"in time{later(totals)}"
        )
    return f"{_longest_out(totals)}{_silence(totals)}{_beside(totals)}{late}."


def _longest_out(totals: RunTotals) -> str:
    assert totals.out is not None, totals
    assert totals.out_cell is not None, totals
    if not totals.out.maximum_s:
        some = f" in the {totals.out.runs} of {totals.runs} runs in which that is known"
        return f"It had no downtime{some if totals.out.runs < totals.runs else ''}"
    head = "In its worst run it was unavailable"
    if _mostly_unknown(totals):
        known = f"{totals.out.runs} of {totals.runs}"
        head = f"How long it was unavailable is known of {known} runs only: at worst"
    return f"{head} for {out_text(totals).replace('≥', 'at least')} ({totals.out_cell[0]})"


def _silence(totals: RunTotals) -> str:
    if totals.silence is None or not totals.silence.maximum_s:
        return ""
    silent = silent_text(totals).replace("≥", "at least")
    return f"; the longest time without any confirm was {silent}"


def _beside(totals: RunTotals) -> str:
    return f"; {worst_text(totals.worst)}" if totals.worst is not None else ""


def _proof(totals: RunTotals) -> str:
    if not totals.judged:
        return ""
    verified = f"; {totals.faults_seen} of {formats.plural(totals.faults_of, 'fault')} verified"
    faults = verified if totals.faults_of else ""
    if totals.whole:
        all_runs = "the run" if totals.runs == 1 else f"all {totals.runs} runs"
        return f"Loss and downtime are proved in {all_runs}{faults}."
    loss = f"loss is decided in {totals.loss_proved} of {formats.plural(totals.runs, 'run')}"
    outage = f", the outage in {totals.outage_proved}" if totals.faults_of else ""
    doubt = ""
    if totals.doubts:
        first = shorten(totals.doubts[0][0], DOUBT_MAX, placeholder=" …")
        doubt = f" Among the reasons: {first}."
    return f"Loss or downtime is not fully proved: {loss}{outage}{faults}.{doubt}"


def _known(decided: int, totals: RunTotals) -> str:
    if decided == totals.runs or not totals.judged:
        return ""
    return f"decided in {decided} of {formats.plural(totals.runs, 'run')}"


def _mostly_unknown(totals: RunTotals) -> bool:
    """The few runs that tell must not stand for all: a short outage there is no short outage."""
    return totals.out is not None and 2 * totals.out.runs < totals.runs


def _out_known(totals: RunTotals) -> str:
    known = _known(totals.outage_proved, totals) if totals.faults_of else ""
    return f"{out_text(totals)}, {known}" if known and _mostly_unknown(totals) else known


def _tried(place: Place, scenarios: int) -> str:
    runs = formats.plural(place.totals.runs, "run")
    whole = formats.plural(scenarios, "scenario")
    if place.scenarios == scenarios:
        return f"{runs} of {whole}"
    return f"{runs}; {place.scenarios} of {whole}"


def _by_scenario(place: Place) -> Iterable[tuple[str, RunTotals]]:
    for scenario in dict.fromkeys(run.cell[0] for run in place.runs):
        yield scenario, totals_of([run for run in place.runs if run.cell[0] == scenario])


def _median(scenario: str, totals: RunTotals) -> tuple[str, str, str]:
    assert totals.out is not None, scenario
    return scenario, median_text(totals.out), f"{totals.out.runs} of {totals.runs}"
