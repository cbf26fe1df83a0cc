"""The gate's answer over the nights on record, and a night's outcome as one text, for a chat or a
mail, and as nightly.xml for machines.

1. The first line shows whether to read on: alarms come first, then what is undecided.
2. Every number comes with its number of runs.
3. In nightly.xml a suite is a cell and a test a thing asked. An alarm is a failure, what could
   not be judged an error; what has no baseline, or did not fit into the night, is skipped with the
   reason.
4. A baseline is a folder of experiments that a person declared good by putting them there.
5. Alarms fail the night. Without one it is undecided where something that was planned was not
   judged, is not decided any more, has no baseline, or where its experiments are gone.
6. What brokers did that misbehaved on purpose (a rehearsal) is compared, and nothing is compared
   with it: it enters neither a baseline nor the nights before.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as xml

from msgspec.structs import replace

from harness.compare.gate import CLEAN_RUNS, Alarm, AlarmKind, Flaky, Gate, gate, is_few
from harness.compare.rates import Rate, spelled_out
from harness.compare.versus import Side
from harness.judging import tested_versions, verdict_file
from harness.judging.exits import Exit
from harness.nightly import playing, record
from harness.nightly.record import Alarmed, Night
from harness.outside.text import visible
from harness.plan import misbehave
from harness.plan.model import Cell
from harness.plan.problems import each
from harness.report.junit import ERROR, FAILURE, SKIPPED, counted, save
from harness.report.page import formats
from harness.report.versus_page import side_text

LISTED_MAX = 20  # of one sort; the pages have them all
HEADS = {
    Exit.PASSED: "nothing is worse",
    Exit.FAILED: "WORSE",
    Exit.NOT_DECIDED: "nothing is shown to be worse, but not everything was judged",
}
ACCEPT = "accept a baseline, docs/gate.md 2"


def lines(night: Night, gate: Gate) -> list[str]:
    """Return the message; its first interval is spelled out."""
    return spelled_out("\n".join(_lines(night, gate))).splitlines()


def _lines(night: Night, gate: Gate) -> Iterator[str]:
    yield headline(night)
    label = f", {night.label}" if night.label else ""
    yield (
        f"{night.title}: night of {formats.dated(night.name)}{label}; {_length(night)}, compared "
        "with the baseline (a play's own exit code only says whether its promises held)"
    )
    if night.is_rehearsal:
        defects = ", ".join(dict.fromkeys(filter(None, (one.misbehave for one in night.played))))
        yield f"rehearsal: brokers misbehaved on purpose ({defects}); no later night counts it"
    for title, texts in sections(night, gate):
        yield f"{title}: {len(texts)}"
        yield from (f"- {one}" for one in texts[:LISTED_MAX])
        if len(texts) > LISTED_MAX:
            yield f"- and {len(texts) - LISTED_MAX} more: the pages have them"


def sections(night: Night, gate: Gate) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What there is to tell, by sort; the gravest first."""
    new = [(cell, f"{gate.baseline} has no run of it") for cell in gate.new]
    flaky = [(o.cell, f"{o.what} {side_text(o.after)}, {_before(o)}") for o in gate.flaky]
    out = [
        (one.cell, f"{formats.plural(one.plays, 'play')}; {one.reason}") for one in night.left_out
    ]
    for title, texts in (
        ("worse", [(one.cell, one.text) for one in night.alarms]),
        ("flaky, and watched all the same", flaky),
        ("not judged", list(unjudged(night, gate))),
        ("no baseline", new),
        ("left out, for the night is too short", out),
    ):
        if texts:
            yield title, tuple(f"{' · '.join(cell)}: {text}" for cell, text in texts)


def headline(night: Night) -> str:
    """The first line; of a night that is not over, that."""
    if night.exit_code is None:
        return "mqproof nightly: the night is not over"
    code = Exit(night.exit_code)
    number = f" in {formats.plural(len(night.alarms), 'place')}" if night.alarms else ""
    why = f": {ACCEPT}" if night.new else ""
    head = _new(night) if night.new else f"{HEADS[code]}{number}"
    rehearsal = "REHEARSAL: " if night.is_rehearsal else ""
    return f"mqproof nightly: {rehearsal}{head} (exit code {code.value}{why})"


def _new(night: Night) -> str:
    """Return the head of a night that lacks only a baseline. Harm without a baseline alarms."""
    if night.new < len(night.cells):
        of = formats.of(night.new, len(night.cells), "cell")
        return f"nothing is worse; no baseline yet for {of}"
    plays = formats.plural(sum(one.judged for one in night.played), "play")
    return f"no baseline yet: {plays} judged, no harm"


def alarm_text(one: Alarm, changed: Sequence[str] = ()) -> str:
    """`downtime takes longer: 3.9 s (…, 10 runs), before 2.9 s (…); since 20261120-…`.

    `changed`: the versions of the cell that differ between the night in which it began and the
    cell's night before.
    """
    what = formats.measure_name(one.what).lower() if one.kind is AlarmKind.LONGER else one.what
    tail = f": {one.meaning}" if one.meaning else ""
    between = f"; between these nights: {', '.join(changed)}" if changed else ""
    few = ""
    if one.kind is AlarmKind.HARM and isinstance(one.before, Rate) and is_few(one.before.runs):
        few = f"; {few_runs(one.before.runs)}"
    when = f"since {formats.dated(one.since)}{between}{few}"
    return f"{what} {one.kind}: {side_text(one.after)}, {_before(one)}; {when}{tail}"


def few_runs(runs: int) -> str:
    """Return the caveat for a cell with a small baseline, and what to do."""
    return (
        f"only {formats.plural(runs, 'baseline run')}: the first violation alarms, although it "
        f"may be older than the night; add baseline runs ({CLEAN_RUNS} at least, 30 are good)"
    )


def _before(one: Alarm | Flaky) -> str:
    return "no baseline" if one.before is None else f"before {side_text(one.before)}"


def unjudged(night: Night, gate: Gate) -> Iterator[tuple[Cell, str]]:
    """Yield each cell that could not be judged, and the reason."""
    for cell, runs in gate.unjudged:
        yield cell, f"{formats.plural(runs, 'run')} decided nothing"
    for cell, what in gate.undecided:
        yield cell, f"{what} is known of most runs of the baseline, and of none of the latest"
    for planned in playing.left(night):
        why = [one.why for one in night.plays_of(planned.cell) if one.why]
        reason = why[-1] if why else playing.TIME_UP
        yield planned.cell, f"not judged as often as was planned: {reason}"


def _length(night: Night) -> str:
    cells = len({one.cell for one in night.played if one.judged})
    minutes = round(sum(one.seconds for one in night.played) / 60)
    plays = formats.plural(sum(bool(one.experiment) for one in night.played), "play")
    took = f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{plays} of {formats.plural(cells, 'cell')} in {took}"


NAME = "nightly.xml"
Case = tuple[str, str, str]  # what was asked, what came of it ("" where it holds), why


def text(night: Night, gate: Gate) -> str:
    suites = xml.Element("testsuites", name=visible(f"mqproof nightly {night.name}"))
    planned = (one.cell for one in (*night.planned, *night.left_out))
    for cell in dict.fromkeys((*(one.cell for one in night.cells), *planned)):
        name = visible(" · ".join(cell))
        suite = xml.SubElement(suites, "testsuite", name=name)
        for title, came, why in cases(night, gate, cell):
            case = xml.SubElement(suite, "testcase", classname=name, name=visible(title))
            if came:
                xml.SubElement(case, came, message=visible(why)).text = visible(why)
    return counted(suites)


def write(night: Night, gate: Gate, folder: Path) -> Path:
    return save(text(night, gate), folder / NAME)


def cases(night: Night, gate: Gate, cell: Cell) -> Iterator[Case]:
    alarms = [one for one in night.alarms if one.cell == cell]
    yield from ((f"{one.what} is no worse", FAILURE, one.text) for one in alarms)
    if cell in gate.new:
        yield "there is a baseline", SKIPPED, f"{gate.baseline} has no run of it"
    left_out = (one.reason for one in night.left_out if one.cell == cell)
    yield from (("is played", SKIPPED, why) for why in left_out)
    reasons = (why for one, why in unjudged(night, gate) if one == cell)
    yield from (("is judged", ERROR, why) for why in reasons)
    if not alarms and any(one.cell == cell for one in night.cells):
        yield "nothing is worse", "", ""


def baseline_of(folder: Path) -> Side:
    """All runs of the experiments in a folder but those of rehearsals; none where it is not there.
    Raises PlanError."""
    every = sorted(folder.glob(f"*/{verdict_file.NAME}"))
    rehearsed = each(every, _rehearsed)
    honest = [path for path, defect in zip(every, rehearsed, strict=True) if not defect]
    return verdict_file.joined(str(folder), honest)


def _rehearsed(path: Path) -> bool:
    """Return whether a verdict holds runs of a rehearsal: one over several experiments, of any."""
    found = verdict_file.read(path)
    replays = (found.replay, *(piece.replay for piece in found.pieces))
    return any(misbehave.FLAG in replay.split() for replay in replays)


def judged(folder: Path, night: Night) -> Night:
    """The night with what its experiments showed. Raises PlanError."""
    names = dict.fromkeys(one.experiment for one in night.played if one.experiment)
    paths = [folder / name / verdict_file.NAME for name in names]
    there = [path for path in paths if path.exists()]
    side = verdict_file.joined(night.name, there)
    cells = record.cells(side, tested_versions.cell_versions(there))
    return replace(night, cells=cells, versions=tested_versions.versions(there))


def answered(baseline: Side, before: Iterable[Night], night: Night) -> tuple[Night, Gate]:
    """The night as it is over, and the gate's answer."""
    every = [*(one for one in before if not one.is_rehearsal), night]
    result = gate(baseline, [record.side(one) for one in every])
    changed = dict(zip((one.name for one in every), record.changes(every), strict=True))
    texts = [
        (one, alarm_text(one, changed.get(one.since, {}).get(one.cell, ())))
        for one in result.alarms
    ]
    alarms = tuple(Alarmed(one.cell, one.what, text) for one, text in texts)
    code, lacks_more = _exit(result, night), _is_open(result, night)
    new = len(result.new) if code is Exit.NOT_DECIDED and not lacks_more else 0
    return replace(night, alarms=alarms, exit_code=code, new=new), result


def _exit(result: Gate, night: Night) -> Exit:
    if result.alarms:
        return Exit.FAILED
    return Exit.NOT_DECIDED if result.new or _is_open(result, night) else Exit.PASSED


def _is_open(result: Gate, night: Night) -> bool:
    """Return whether anything but a missing baseline leaves the night undecided."""
    there = {one.cell for one in night.cells}
    gone = not there or any(one.judged and one.cell not in there for one in night.played)
    return bool(gone or result.unjudged or result.undecided or any(playing.left(night)))
