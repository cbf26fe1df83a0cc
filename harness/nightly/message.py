"""A night's outcome as one text, for a chat or a mail: alarms first, and what is undecided.

1. The first line shows whether to read on.
2. Every number comes with its number of runs.
"""

from collections.abc import Iterator, Sequence

from harness.compare.gate import CLEAN_RUNS, Alarm, AlarmKind, Flaky, Gate, is_few
from harness.compare.rates import Rate
from harness.judging.exits import Exit
from harness.nightly import playing
from harness.nightly.record import Night
from harness.nightly.suite import Cell
from harness.report.page import formats
from harness.report.versus_page import side_text

LISTED_MAX = 20  # of one sort; the pages have them all
HEADS = {
    Exit.PASSED: "nothing is worse",
    Exit.FAILED: "WORSE",
    Exit.NOT_DECIDED: "nothing is shown to be worse, but not everything was judged",
}


def lines(night: Night, gate: Gate) -> Iterator[str]:
    """The whole message."""
    yield headline(night)
    label = f", {night.label}" if night.label else ""
    yield (
        f"{night.title}: night of {formats.dated(night.name)}{label}; {_length(night)}, compared "
        "with the baseline (a play's own exit code compares with expectations.toml)"
    )
    for title, texts in sections(night, gate):
        yield f"{title}: {len(texts)}"
        yield from (f"- {one}" for one in texts[:LISTED_MAX])
        if len(texts) > LISTED_MAX:
            yield f"- and {len(texts) - LISTED_MAX} more: the pages have them"


def sections(night: Night, gate: Gate) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What there is to tell, by sort; the gravest first."""
    new = (f"{' · '.join(cell)}: {gate.baseline} has no run of it" for cell in gate.new)
    out = (
        f"{' · '.join(one.cell)}: {formats.plural(one.plays, 'play')}; {one.reason}"
        for one in night.left_out
    )
    open_ends = (f"{' · '.join(cell)}: {why}" for cell, why in unjudged(night, gate))
    worse = (f"{' · '.join(one.cell)}: {one.text}" for one in night.alarms)
    for title, texts in (
        ("worse", worse),
        ("flaky, and watched all the same", map(flaky_text, gate.flaky)),
        ("not judged", open_ends),
        ("no baseline", new),
        ("left out, for the night is too short", out),
    ):
        if every := tuple(texts):
            yield title, every


def headline(night: Night) -> str:
    """The first line; of a night that is not over, that."""
    if night.exit_code is None:
        return "mqproof nightly: the night is not over"
    code = Exit(night.exit_code)
    number = f" in {formats.plural(len(night.alarms), 'place')}" if night.alarms else ""
    return f"mqproof nightly: {HEADS[code]}{number} (exit code {code.value})"


def alarm_text(one: Alarm, changed: Sequence[str] = ()) -> str:
    """`total downtime takes longer: 3.9 s (…, 10 runs), before 2.9 s (…); since 20261120-…`.

    `changed`: the versions that differ between the night in which it began and the night before.
    """
    before = "no baseline" if one.before is None else f"before {side_text(one.before)}"
    tail = f": {one.meaning}" if one.meaning else ""
    between = f"; between these nights: {', '.join(changed)}" if changed else ""
    when = f"since {formats.dated(one.since)}{between}{_few_text(one)}"
    return f"{_what(one)} {one.kind}: {side_text(one.after)}, {before}; {when}{tail}"


def few_runs(runs: int) -> str:
    """Return the caveat for a cell with a small baseline, and what to do."""
    return (
        f"only {formats.plural(runs, 'baseline run')}: the first violation alarms, although it "
        f"may be older than the night; add baseline runs ({CLEAN_RUNS} at least, 30 are good)"
    )


def _few_text(one: Alarm) -> str:
    if one.kind is not AlarmKind.HARM or not isinstance(one.before, Rate):
        return ""
    return f"; {few_runs(one.before.runs)}" if is_few(one.before.runs) else ""


def flaky_text(one: Flaky) -> str:
    before = "no baseline" if one.before is None else f"before {side_text(one.before)}"
    return f"{' · '.join(one.cell)}: {one.what} {side_text(one.after)}, {before}"


def _what(one: Alarm) -> str:
    return formats.measure_name(one.what).lower() if one.kind is AlarmKind.LONGER else one.what


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
    plays = sum(bool(one.experiment) for one in night.played)
    return (
        f"{formats.plural(plays, 'play')} of {formats.plural(cells, 'cell')} in "
        f"{minutes // 60} h {minutes % 60:02d} min"
    )
