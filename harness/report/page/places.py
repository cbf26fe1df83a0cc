"""What is compared: systems in their layouts, each with a letter, and its verdict in plain words.

1. A place is a system in one layout, driven by one client. Layouts of a system stand together.
2. Every verdict says three things, whatever is known of them: what was lost of what was confirmed,
   how long it was out, and in how many runs that is decided. Each number stands once.
3. Of runs that were not judged nothing is said but that, and why; they are never a 0.
4. Timers set how long an outage lasts. Each run records those that it was measured with; the files
   of layouts give the product's defaults.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from textwrap import shorten

from harness.judging.result import Report, RunReport
from harness.plan.model import Cell, split_label
from harness.report.page import formats, outs
from harness.report.page.columns import Key, letters_of
from harness.report.page.totals import RunTotals, loss_rate, median_text, often_text
from harness.systems.catalogue import as_shipped, load_system
from harness.view.failing import Failing, failures_text, of_first_fault

Titles = Mapping[Key, tuple[str, str]]  # of system and layout
NAME_MAX = 64  # characters of a layout
_VERSION = re.compile(r" \d+(?:\.\d+)*(?=[ ,:]|$)")


def names(keys: Sequence[Key], titles: Titles) -> dict[Key, str]:
    """One a column, each its own: `RabbitMQ 3.10`, `a confirm waits for a slave`, `pika`."""
    systems = _systems(keys, titles)
    found = {}
    for system in dict.fromkeys(key[0] for key in keys):
        own = [key for key in keys if key[0] == system]
        layouts = _layouts(own, titles)
        for key in own:
            beside = [other for other in own if other[1] == key[1]]
            parts = [systems[system]] if len(systems) > 1 else []
            parts += [layouts[key[1]]] if len(layouts) > 1 else []
            parts += [key[2]] if len(beside) > 1 else []
            parts = parts or [systems[system]]  # it stands alone
            found[key] = ": ".join((parts[0], ", ".join(parts[1:]))) if parts[1:] else parts[0]
    return found


def brief(title: str) -> str:
    """A title up to where it begins to explain: `RabbitMQ 3.10`."""
    return re.split(r"[,:]| with ", title, maxsplit=1)[0]


def _unversioned(title: str) -> str:
    return _VERSION.sub("", title)


def _systems(keys: Sequence[Key], titles: Titles) -> dict[str, str]:
    """Return a name for each system. Of one product their architectures tell them apart, not the
    versions in their titles, which are versions of the product."""
    whole = {key[0]: titles[key][0] for key in keys}
    products = {name: brief(_unversioned(title)) for name, title in whole.items()}
    several = {one for one, number in Counter(products.values()).items() if number > 1}
    found = {
        name: _unversioned(title).partition(":")[0] if products[name] in several else brief(title)
        for name, title in whole.items()
    }
    return found if len(set(found.values())) == len(found) else {name: name for name in found}


def _layouts(keys: Sequence[Key], titles: Titles) -> dict[str, str]:
    """Return a name for each layout of one system: the clauses of its title that not all have;
    `T=10` and `T=60`, if only timers differ; else its own words, `exactly-2` or `all@T=60`."""
    own = {key[1]: titles[key][1] for key in keys}
    clauses = {name: re.split(r"[;,] ", title) for name, title in own.items()}
    shared = set.intersection(*map(set, clauses.values())) if len(clauses) > 1 else set()
    different = {
        name: ", ".join(clause for clause in found if clause not in shared)
        for name, found in clauses.items()
    }
    briefs, timers = ({name: split_label(name)[part] for name in own} for part in (0, 1))
    for extra in (different, timers if len(set(briefs.values())) == 1 else {}):
        texts = set(extra.values())
        if len(texts) == len(own) and all(0 < len(text) <= NAME_MAX for text in texts):
            return extra
    return briefs if len(set(timers.values())) == 1 else {name: name for name in own}


DOUBT_MAX = 140  # characters; the whole of it stands with its run
RETURNED = "Each host that failed came back with its disk, so the audit could read its messages."
# The same if mqproof had to start a broker for the audit.
STARTED = "Each host that failed was there with its disk when the audit read the messages."
DEPLOYMENTS = {"local": "as processes", "compose": "in containers", "external": "on your cluster"}


class Place:
    """One system in one layout, by one client. `names` are its own words, for commands and files;
    `name` is what tells it from the others, `about` what that does not say."""

    def __init__(self, key: Key, letter: str, report: Report, titles: Titles, name: str) -> None:
        self.key, self.name, self.names = key, name, " · ".join(key)
        self.letter = letter
        self.system, self.layout = titles[key]
        self.about = _about(name, self.system, self.layout)
        self.runs = tuple(run for run in report.runs if run.cell[1:] == key)
        self.scenarios = tuple(dict.fromkeys(run.cell[0] for run in self.runs))
        self.totals = RunTotals(self.runs)
        self.timers = timers_text(self.runs)  # in words; "" where they are not known
        words = (run.cost.deployment for run in self.runs if run.cost)
        how = " and ".join(dict.fromkeys(DEPLOYMENTS.get(one, one) for one in words))
        self.deployment = f"brokers ran {how}" if how else ""

    def of(self, scenario: str) -> list[RunReport]:
        return [run for run in self.runs if run.cell[0] == scenario]


class VerdictView:
    """One place's verdict: a word and two numbers at a glance, and the sentences behind them.

    `edge`: its tone as a whole; nothing lost is not well where it was out. `medians`: scenario,
    `12.5 s`, `2 of 2`; `unknown`: scenarios whose outage is unknown.
    """

    def __init__(self, place: Place, scenarios: int) -> None:
        """`scenarios`: how many the whole report has."""
        totals = place.totals
        self.place = place
        self.tone, self.sign, self.word = glance(totals)
        self.edge = edge(self.tone, totals)
        self.loss_often = (
            often_text(loss_rate(totals), "lost", totals) if totals.loss_judged > 1 else ""
        )
        self.out = "? mostly unknown" if _mostly_unknown(totals) else outs.out_text(totals)
        timed = totals.total_downtime is not None and totals.faults and totals.runs > 1
        self.often = outs.rate_text(totals) if timed else ""
        self.why = totals.out_bound  # why the downtime is a lower bound
        self.worst = outs.worst_of_runs(totals)
        # Messages of several scenarios have no common share.
        late = outs.late_text(totals) if totals.scenarios == 1 else ""
        self.late = "; ".join(filter(None, (late, _attempts(place.runs, late))))
        out_of = totals.out_cell[0] if totals.out_cell is not None and totals.is_out else ""
        self.out_where = f"in {out_of}" if out_of and totals.scenarios > 1 else ""
        self.of = ""
        if totals.confirmed:
            self.of = f"of {totals.for_groups(formats.plural(totals.confirmed, 'message'))}"
        worst = " in the worst run" if totals.runs > 1 else ""
        self.whose = f"downtime for publishers{worst}"
        if totals.worst is not None:
            self.whose = f"downtime{worst} (messages of all publishers as one stream)"
        self.lost_known = _known(totals.loss_decided_runs, totals)
        self.out_known = _known(totals.outage_decided_runs, totals) if totals.faults else ""
        if self.out_known and _mostly_unknown(totals):
            self.out_known = f"{outs.out_text(totals)}, {self.out_known}"
        of = formats.plural(scenarios, "scenario")
        every = len(place.scenarios) == scenarios
        some = " of " if every else f"; {len(place.scenarios)} of "
        self.tried = f"{formats.plural(totals.runs, 'run')}{some}{of}"
        started = any(started_hosts(run) for run in place.runs)
        returned = STARTED if started else RETURNED
        returned = returned if totals.hosts_returned else ""
        said = _loss(totals), _outage(totals), _sentence(outs.backlog_text(totals))
        self.sentences = tuple(filter(None, (*said, returned, _proof(totals))))
        by_scenario = [(name, RunTotals(place.of(name))) for name in place.scenarios]
        timed_ones = ((name, own.runs, own.total_downtime) for name, own in by_scenario)
        self.medians = tuple(
            (name, median_text(out), f"{out.runs} of {runs} runs")
            for name, runs, out in timed_ones
            if out is not None and runs > 1
        )
        self.unknown = tuple(name for name, own in by_scenario if own.total_downtime is None)


def started_hosts(run: RunReport) -> tuple[str, ...]:
    """Return the hosts whose brokers did not come back by themselves, and which the auditor
    started."""
    records = run.detail.manifest.audit_starts if run.detail is not None else ()
    return tuple(dict.fromkeys(one.place for one in records if one.issued_ns is not None))


def places(report: Report) -> tuple[Place, ...]:
    """Return them in the order of the columns."""
    columns = letters_of(report)
    # What has no titles is called as it calls itself.
    titles: dict[Key, tuple[str, str]] = {key: key[:2] for key in columns}
    for cell, title in list(report.titles.items())[::-1]:
        titles[cell[1:]] = title.system, title.layout
    named = names(tuple(columns), titles)
    return tuple(Place(key, one, report, titles, named[key]) for key, one in columns.items())


def _about(name: str, system: str, layout: str) -> str:
    """Return what a name does not say of a place. What a system's title says after a comma is left
    to the layout, whose title says it in detail."""
    named = name.partition(": ")[0]
    whole = system if system.startswith(named) else _unversioned(system)
    rest = whole.removeprefix(named) if whole.startswith(named) else system
    rest = rest.partition(", ")[0].strip(" :")
    parts = (f"{rest[:1].upper()}{rest[1:]}", layout)
    return ". ".join(part for part in parts if part and part != name)


def scenarios_of(compared: Sequence[Place], skipped: Iterable[Cell] = ()) -> tuple[str, ...]:
    """Those that most places had come first; otherwise in their order. Skipped ones come last."""
    every = dict.fromkeys(name for place in compared for name in place.scenarios)
    every |= dict.fromkeys(cell[0] for cell in skipped)
    return tuple(sorted(every, key=lambda name: -sum(name in one.scenarios for one in compared)))


def glance(totals: RunTotals) -> tuple[str, str, str]:
    """Tone, sign and words of what was lost."""
    if not totals.runs:
        return "not_applicable", "–", "does not apply"
    if not totals.judged:
        return "open", "?", "not judged"
    if losses := outs.losses(totals):
        return "fail", "✗", ", ".join(losses)
    if not totals.confirmed:
        return "open", "?", "nothing confirmed"
    return ("open", "?", "no loss found") if totals.loss_open else ("pass", "✓", "0 lost")


def edge(tone: str, totals: RunTotals) -> str:
    """Nothing lost is not well where it was out."""
    return "out" if tone == "pass" and totals.is_out else tone


def listed(names: Sequence[str], most: int | None = None) -> str:
    """`A`, `A and B`, `A, B and C`; of more than `most`: `A, B and 7 more`."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def timers_text(runs: Sequence[RunReport]) -> str:
    """Return `detection timeout of a silent host about 10 s here (60 s as shipped)`. What is
    unknown, applies to no fault, or differs between runs of the place is left out."""
    known = [run.summary for run in runs if run.summary is not None]
    here_s = _only(one.detection_timeout_s for one in known)
    poll_s = _only(one.poll_s for one in known)
    if here_s is None and poll_s is None:
        return ""
    _, system, layout, _ = runs[0].cell
    own_s, own_poll_s = _shipped(system, split_label(layout)[0])
    parts = []
    if here_s is not None:
        parts.append(f"detection timeout of a silent host about {_compared_text(here_s, own_s)}")
    if poll_s:
        parts.append(f"clients poll routes every {_compared_text(poll_s, own_poll_s)}")
    return "; ".join(parts)


def _only(values: Iterable[float | None]) -> float | None:
    """Return the one value of all runs that have one; None if they differ, or none has one."""
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None


def _compared_text(here_s: float, shipped_s: float | None) -> str:
    if shipped_s is None:
        return f"{here_s:g} s"
    if shipped_s == here_s:
        return f"{here_s:g} s, as shipped"
    return f"{here_s:g} s here ({shipped_s:g} s as shipped)"


@cache
def _shipped(system: str, layout: str) -> tuple[float | None, float | None]:
    """Return the product's detection timeout, and its clients' poll interval; seconds."""
    found = as_shipped(system, layout)
    if found is None:
        return None, None
    poll_s = load_system(system).guarantees(found).route_poll_s
    return found.detection_timeout_s, poll_s if isinstance(poll_s, int) else None


def _loss(totals: RunTotals) -> str:
    """Return what the number of lost messages does not say; "" if that is all."""
    if not totals.runs:
        return "None of these scenarios applies to it; the reasons are below the table."
    if not totals.judged:
        why = totals.main_doubt or "no reason was recorded"
        return f"Nothing was judged in {formats.plural(totals.runs, 'run')}: {why}."
    if not totals.confirmed:
        runs = formats.plural(totals.judged, "run")
        return f"It confirmed nothing in {runs}, so nothing can be said to be lost."
    parts = []
    if totals.lost or totals.stranded:
        parts.append(_ends(totals))
    if totals.undecided_messages:
        more = formats.plural(totals.undecided_messages, "more message")
        are = "is" if totals.undecided_messages == 1 else "are"
        parts.append(f"whether {more} {are} lost cannot be decided")
    elif totals.loss_open:
        undecided = totals.judged - totals.loss_decided_runs
        of = formats.of(undecided, totals.judged, "run")
        parts.append(f"whether anything is lost cannot be decided in {of}")
    return _sentence("; ".join(parts))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _ends(totals: RunTotals) -> str:
    """Return what became of the messages that neither received."""
    if not totals.stranded:
        if totals.lost == 1:
            return "the lost message is on no disk"
        return f"none of the {formats.count(totals.lost)} lost messages is on any disk"
    lost = f"{_so_many(totals.lost)} lost for good, " if totals.lost else "all "
    stays = "still on a disk where no client gets at them"
    return f"{lost}{_so_many(totals.stranded)} stranded, {stays}"


def _so_many(number: int) -> str:
    return f"{formats.count(number)} {'is' if number == 1 else 'are'}"


def _attempts(runs: Sequence[RunReport], late: str) -> str:
    """Return how many attempts to send failed from the first fault on, and how; "" if none did.
    `late`: the text before it."""
    found: list[Failing] = []
    several = False
    for run in runs:
        own = run.detail.failing if run.detail is not None else ()
        several |= len({one.window for one in own}) > 1
        found += of_first_fault(own)
    fault = "the first fault" if several else "the fault"
    text = failures_text(found, fault if len(runs) == 1 else "")
    since = "since that fault" if "first fault" in late else "from the first fault on"
    return f"{since}, {text}" if text else ""


def _outage(totals: RunTotals) -> str:
    """Return what the downtime does not say: the longest time without a confirm."""
    if not totals.judged:
        return ""
    if not totals.faults and not totals.is_out:
        return "Nothing was broken on purpose."
    silent = outs.silent_text(totals, outs.AT_LEAST)
    if totals.total_downtime is None or totals.silence is None or not totals.silence.maximum_s:
        return ""
    over = " in any run" if totals.runs > 1 else ""
    text = f"The longest time without any confirm{over} was {silent}."
    return " ".join(filter(None, (text, outs.compared_text(totals))))


def _proof(totals: RunTotals) -> str:
    if not totals.judged:
        return ""
    if totals.whole and totals.recorded:
        if not totals.faults:
            return "Logs complete."
        return f"Fault{'s' if totals.faults > 1 else ''} verified, logs complete."
    verified = f"; {totals.faults_seen} of {formats.plural(totals.faults, 'fault')} verified"
    faults = verified if totals.faults else ""
    if totals.logs_closed < totals.logs_of:
        closed = formats.of(totals.logs_closed, totals.logs_of, "log")
        faults += f"; {closed} of publishers and consumers complete"
    if totals.whole:
        return f"The records suffice to decide loss and downtime{faults}."
    loss = f"loss is decided in {totals.loss_decided_runs} of {formats.plural(totals.runs, 'run')}"
    outage = f", the outage in {totals.outage_decided_runs}" if totals.faults else ""
    first = shorten(totals.main_doubt, DOUBT_MAX, placeholder=" …")
    doubt = f" Among the reasons: {first}." if totals.doubts else ""
    return f"Not everything is decided: {loss}{outage}{faults}.{doubt}"


def _known(decided: int, totals: RunTotals) -> str:
    if decided == totals.runs or not totals.judged:
        return ""
    return f"decided in {decided} of {formats.plural(totals.runs, 'run')}"


def _mostly_unknown(totals: RunTotals) -> bool:
    """The few runs that tell must not stand for all: a short outage there is no short outage."""
    out = totals.total_downtime
    return out is not None and 2 * out.runs < totals.runs
