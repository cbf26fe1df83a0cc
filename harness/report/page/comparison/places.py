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
from harness.report.page.tally import Cell, Tally, loss_rate, median_text, tally

PLACES_MAX = 8  # of more, each has a column too narrow to read; the matrix of cells shows them
DOUBT_MAX = 140  # characters; the whole of it stands with its run
RETURNED = "every host that failed came back with its disk"
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
    tally: Tally
    timers: str  # in words; "" where they are not known
    name: str  # by what tells it from the others (naming.py)
    about: str  # what its name does not say, of system, layout and client


@dataclass(frozen=True, slots=True)
class VerdictView:
    """One place's verdict: a word and two numbers at a glance, and the sentences behind them.

    `edge`: its tone as a whole; nothing lost is not well where it was out. `medians`: scenario,
    `12.5 s`, `2 of 2`; `unknown`: scenarios whose outage nobody knows.
    """

    place: Place
    tone: str
    edge: str
    sign: str
    word: str
    loss_often: str  # in how many runs it lost, and how sure that is
    out: str
    often: str  # the same of being out
    worst: str  # which queue or publisher was out for longest
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
    told = place.tally
    tone, sign, word = glance(told)
    by_scenario = tuple(_by_scenario(place))
    return VerdictView(
        place=place,
        tone=tone,
        edge=edge(tone, told),
        sign=sign,
        word=word,
        loss_often=loss_rate(told).told("lost") if told.loss_judged else "",
        out="? mostly unknown" if _mostly_unknown(told) else out_text(told),
        often=f"out {rate_text(told)}" if told.out is not None and told.faults_of else "",
        worst=worst_text(told.worst),
        late=late_text(told),
        returned=RETURNED if told.hosts_returned else "",
        lost_known=_known(told.loss_proved, told),
        out_known=_out_known(told),
        tried=_tried(place, scenarios),
        sentences=tuple(one for one in (_loss(told), _outage(place), _proof(told)) if one),
        medians=tuple(_median(name, own) for name, own in by_scenario if own.out is not None),
        unknown=tuple(name for name, own in by_scenario if own.out is None),
    )


def glance(told: Tally) -> tuple[str, str, str]:
    """Tone, sign and words of what was lost."""
    if not told.runs:
        return "moot", "–", "does not apply"
    if not told.judged:
        return "open", "?", "not judged"
    undecided = told.loss_proved < told.judged
    if told.lost or told.stranded:
        least = "≥ " if undecided else ""
        parts = [f"{least}{formats.count(told.lost)} lost"] if told.lost else []
        parts += [f"{formats.count(told.stranded)} stranded"] if told.stranded else []
        return "fail", "✗", ", ".join(parts)
    if not told.confirmed:
        return "open", "?", "nothing confirmed"
    if undecided:
        return "open", "?", "none found lost"
    return "pass", "✓", "0 lost"


def edge(tone: str, told: Tally) -> str:
    """Nothing lost is not well where it was out."""
    return "out" if tone == "pass" and is_out(told) else tone


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
        tally=tally(runs),
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


def _loss(told: Tally) -> str:
    if not told.runs:
        return "None of these scenarios applies to it; why, stands below the table."
    if not told.judged:
        why = told.doubts[0][0] if told.doubts else "nobody says why"
        return f"Nothing was judged in {formats.plural(told.runs, 'run')}: {why}."
    runs = formats.plural(told.judged, "run")
    if not told.confirmed:
        return f"It confirmed nothing in {runs}, so nothing can be said to be lost."
    of = f"the {formats.plural(told.confirmed, 'message')} that it had confirmed"
    if not told.lost and not told.stranded:
        if told.loss_proved == told.judged:
            return f"It lost none of {of}, in {runs}."
        return f"No loss was found among {of}, in {runs}{_untold(told)}."
    least = "at least " if told.loss_proved < told.judged else ""
    missing = f"{least}{formats.count(told.lost + told.stranded)}"
    where = f"in {told.runs_with_loss} of {runs}"
    ends = [f"{formats.count(told.lost)} {_are(told.lost)} lost for good"] if told.lost else []
    if told.stranded:
        whole = "" if told.lost else "all "
        ends.append(
            f"{whole}{formats.count(told.stranded)} {_are(told.stranded)} stranded, still on a "
            "disk where no client gets at them"
        )
    text = f"{missing} of {of} never reached a consumer ({where}): {', '.join(ends)}"
    return f"{text[:1].upper()}{text[1:]}{_untold(told)}."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _untold(told: Tally) -> str:
    if told.untold:
        return f"; of {formats.count(told.untold)} more nobody can tell"
    undecided = told.judged - told.loss_proved
    return f"; {formats.of(undecided, told.judged, 'run')} cannot be decided" if undecided else ""


def _outage(place: Place) -> str:
    told = place.tally
    if not told.judged:
        return ""
    if not told.faults_of and not is_out(told):
        return "Nothing was broken on purpose."
    if told.out is None:
        return "How long it was out is not decided."
    missed, publishes, _ = told.late
    late = ""
    if missed:
        late = (
            f"; from the faults on, {formats.share(missed / publishes)} were not confirmed "
            f"in time{later(told)}"
        )
    return f"{_longest_out(told)}{_silence(told)}{_beside(told)}{late}."


def _longest_out(told: Tally) -> str:
    assert told.out is not None, told
    if not told.out.most_s:
        some = f" in the {told.out.runs} of {told.runs} runs of which that is known"
        return f"It was not out{some if told.out.runs < told.runs else ''}"
    head = "At worst it was out"
    if _mostly_unknown(told):
        head = (
            f"How long it was out is known of {told.out.runs} of {told.runs} runs only: at worst"
        )
    return f"{head} for {out_text(told).replace('≥', 'at least')} ({told.out.cell[0]})"


def _silence(told: Tally) -> str:
    if told.silence is None or not told.silence.most_s:
        return ""
    silent = silent_text(told).replace("≥", "at least")
    return f"; the longest time without any confirm was {silent}"


def _beside(told: Tally) -> str:
    return f"; {worst_text(told.worst)}" if told.worst is not None else ""


def _proof(told: Tally) -> str:
    if not told.judged:
        return ""
    faults = f"; {told.faults_seen} of {formats.plural(told.faults_of, 'fault')} were seen"
    faults = f"{faults} to hold and to end" if told.faults_of else ""
    whole = told.runs == told.judged == told.loss_proved == told.outage_proved
    if whole and told.faults_seen == told.faults_of:
        all_runs = "the run" if told.runs == 1 else f"all {told.runs} runs"
        return f"Proved in {all_runs}{faults}."
    loss = f"loss is decided in {told.loss_proved} of {formats.plural(told.runs, 'run')}"
    outage = f", the outage in {told.outage_proved}" if told.faults_of else ""
    doubt = ""
    if told.doubts:
        doubt = (
            f" In doubt, among others: {shorten(told.doubts[0][0], DOUBT_MAX, placeholder=' …')}."
        )
    return f"Proved in part: {loss}{outage}{faults}.{doubt}"


def _known(decided: int, told: Tally) -> str:
    if decided == told.runs or not told.judged:
        return ""
    return f"decided in {decided} of {formats.plural(told.runs, 'run')}"


def _mostly_unknown(told: Tally) -> bool:
    """The few runs that tell must not stand for all: a short outage there is no short outage."""
    return told.out is not None and 2 * told.out.runs < told.runs


def _out_known(told: Tally) -> str:
    known = _known(told.outage_proved, told) if told.faults_of else ""
    return f"{out_text(told)}, {known}" if known and _mostly_unknown(told) else known


def _tried(place: Place, scenarios: int) -> str:
    runs = formats.plural(place.tally.runs, "run")
    return f"{runs} of {place.scenarios} of {formats.plural(scenarios, 'scenario')}"


def _by_scenario(place: Place) -> Iterable[tuple[str, Tally]]:
    for scenario in dict.fromkeys(run.cell[0] for run in place.runs):
        yield scenario, tally([run for run in place.runs if run.cell[0] == scenario])


def _median(scenario: str, told: Tally) -> tuple[str, str, str]:
    assert told.out is not None, scenario
    return scenario, median_text(told.out), f"{told.out.runs} of {told.runs}"
