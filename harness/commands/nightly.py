"""`mqproof nightly`: the nights of a suite."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import spark
from harness.commands.shell import RESULTS, Shell, print_lines, stamp
from harness.commands.together import unwritable, wrong_words
from harness.judging.exits import Judge
from harness.outside.files import is_folder
from harness.plan.experiment import NAME_FLAG
from harness.plan.problems import PlanError, Problem
from harness.report.page import formats
from harness.run import folder_lock
from spark_analysis.schema.place import Place

# Each imports what it needs of harness.nightly itself: what judges takes long to load.
if TYPE_CHECKING:
    from harness.nightly.playing import NightEnvironment, NightRequest
    from harness.nightly.record import Night
    from harness.nightly.suite import Suite

LABEL_MAX = 200


def nightly(
    context: typer.Context,
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="The suite: a TOML file.")],
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for nights, experiments and pages.")
    ] = RESULTS,
    label: Annotated[
        str,
        typer.Option(metavar="TEXT", help="What is tested tonight, such as a commit or a build."),
    ] = "",
    changed: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM", help="A system that changed: play it first; repeatable."),
    ] = None,
    go_on: Annotated[
        bool,
        typer.Option("--go-on", help="Only continue an interrupted night; begin no new one."),
    ] = False,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Show what fits into the night; start nothing.")
    ] = False,
    master: spark.MasterOption = "",
    conf: spark.ConfOption = None,
) -> int:
    """Play a suite's cells for a night, and say whether anything is worse than its baseline.

    Repeat the command after a crash or a reboot to continue the same night. It
    prints the result on standard output, as one message; pages and files for
    machines lie in DIR/site and DIR/nights.
    """
    from harness.judging import brought_claims
    from harness.nightly import playing, record
    from harness.nightly.suite import read
    from harness.request.run_request import systems

    shell: Shell = context.obj
    shell.results = results
    where, misplaced = spark.place(master, conf)
    problems = [*unwritable("--results", results), *_label_problems(label), *misplaced]
    problems += brought_claims.problems()
    names = [one.name for one in systems()]
    problems += wrong_words("--changed", "system", changed or [], names)
    try:
        found_suite = read(suite)
    except PlanError as error:
        raise PlanError([*error.problems, *problems]) from None
    if problems:
        raise PlanError(problems)
    wanted = playing.NightRequest(stamp(), label, tuple(changed or ()))
    if dry:
        print_lines(shell.out, _outlook(found_suite, wanted, record.nights(results)))
        return 0
    _make(results / record.NIGHTS)
    with folder_lock.alone([results / record.NIGHTS]):
        return _nights(shell, found_suite, wanted, results, go_on, where)


def _nights(
    shell: Shell, suite: "Suite", wanted: "NightRequest", results: Path, go_on: bool, where: Place
) -> int:
    """Play the rest of an interrupted night, then tonight. `go_on`: only the former."""
    from harness.nightly import playing, record

    before, now = record.nights(results), datetime.now(UTC)
    night = playing.unfinished(before)
    if night is None and go_on:
        print_lines(shell.err, ["no night was broken off: none begins"])
        return 0
    if night is not None:
        before = before[:-1]
        print_lines(shell.err, [f"mqproof continues the night of {formats.dated(night.name)}"])
        if now >= datetime.fromisoformat(night.ends):
            print_lines(shell.err, ["its time is over: mqproof judges what was played"])
            past = _whole(shell, suite, night, before, results, where)
            if go_on:
                return _code(past)
            before, night = [*before, past], None
    if night is None:
        night = playing.begun(suite, wanted, before, now)
        record.save(results, night)
    return _code(_whole(shell, suite, night, before, results, where))


def _code(night: "Night") -> int:
    assert night.exit_code is not None, "it is over"
    return night.exit_code


def _whole(
    shell: Shell,
    suite: "Suite",
    night: "Night",
    before: "Sequence[Night]",
    results: Path,
    where: Place,
) -> "Night":
    """The night played, judged and told. Raises PlanError, KeyboardInterrupt."""
    from harness.nightly import message, playing, record, site

    def log(line: str) -> None:
        print_lines(shell.err, [line])

    night = playing.played(results, suite, night, _world(where), log)
    baseline = message.baseline_of(suite.baseline)
    night, gate = message.answered(baseline, before, message.judged(results, night))
    record.save(results, night)
    print_lines(shell.out, message.lines(night, gate))
    every = [*before, night]
    log(f"pages: {site.write(results, every, baseline, gate)}")
    log(f"junit: {message.write(night, gate, results / record.NIGHTS / night.name)}")
    if removed := record.tidy(results, every, suite.keep_passed):
        log(f"recordings of {removed} older experiments without harm were removed")
    return night


def _world(where: Place) -> "NightEnvironment":
    from harness.campaigns import playing as campaign
    from harness.nightly.playing import NightEnvironment, busy, pause

    def analyse(folder: Path, log: Callable[[str], None]) -> int:
        words = ["analyse", str(folder), *where.words]
        return campaign.carried_out(words, f"analyse {folder.name}", log)

    def play(folder: Path, name: str, words: Sequence[str], log: Callable[[str], None]) -> int:
        more = [NAME_FLAG, name, *where.words]
        return campaign.play(folder, words, log, more, judge=Judge.CLAIMS)

    now = partial(datetime.now, UTC)
    return NightEnvironment(now, stamp, play, analyse, partial(busy, pause))


def _outlook(suite: "Suite", wanted: "NightRequest", before: "Sequence[Night]") -> Iterator[str]:
    """What would be played tonight, in this order, and what would not."""
    from harness.nightly import playing

    if (night := playing.unfinished(before)) is not None:
        yield (
            f"the night of {formats.dated(night.name)} is not over: it goes on, if it is not past "
            f"{night.ends}"
        )
    night = playing.begun(suite, wanted, before, datetime.now(UTC))
    total_s = sum(one.estimate_s for one in night.planned)
    yield f"{suite.title}: {_hours(total_s)} of {_hours(suite.night_s)}"
    for title, chosen in (("planned", night.planned), ("left out", night.left_out)):
        for one in chosen:
            times = f"{one.plays} x " if one.plays > 1 else ""
            cell = " · ".join(one.cell)
            yield f"{title}: {times}{cell} ({_hours(one.estimate_s)}): {one.reason}"
    for skipped in suite.skipped:
        yield f"NOT APPLICABLE: {' · '.join(skipped.cell)}: {skipped.reason}"
    if not is_folder(suite.baseline):
        yield f"there is no baseline: {suite.baseline}; copy experiments that are good into it"


def _hours(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _label_problems(label: str) -> Iterator[Problem]:
    if len(label) > LABEL_MAX:
        yield Problem("--label", f"has {len(label):,} characters; {LABEL_MAX} at most")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise PlanError([Problem("--results", f"{folder}: {failure.strerror}")]) from None
