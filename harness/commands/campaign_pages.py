"""`mqproof campaign judge`, `page`, `expectations`: what packed runs show, as it is published."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import pack
from harness.commands.shell import Shell, print_lines, print_text
from harness.commands.together import unwritable, wrong_words
from harness.plan.problems import PlanError, Problem, each, twice
from spark_analysis.files.writing import write_whole

# Each imports what it needs of harness.campaigns itself: what judges takes long to load.
if TYPE_CHECKING:
    from harness.campaigns.pages import Page

DIFFERS = 1  # a check found what is not so
CHECK, WRITE, ADD = "--check", "--write", "--add"
EVIDENCE, RESUME = "--evidence", "--resume"

_Pages = Annotated[
    list[Path],
    typer.Argument(metavar="PAGE...", help="Markdown files with a mark <!-- runs: ... -->."),
]


def judge(
    context: typer.Context,
    packs: Annotated[
        list[Path], typer.Argument(metavar="PACK...", help="Files that `mqproof pack` wrote.")
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            metavar="NAME",
            help="made, loss, out, promises, foretold, articles, price, carried, sends, dropped, "
            "beside; if left out, all.",
        ),
    ] = None,
) -> int:
    """Judge packed runs again and print their tables as Markdown, as published pages have them.

    Neither Docker nor Spark is started.
    """
    from harness.campaigns.packed import judged
    from harness.campaigns.pages import TABLES
    from harness.judging.exits import of_claims

    shell: Shell = context.obj
    problems = wrong_words("--table", "table", table or [], list(TABLES))
    problems += twice("PACK", map(str, packs))
    found = each(dict.fromkeys(packs), judged, problems)
    for name in table or TABLES:
        print_lines(shell.out, [f"{name}:", "", *TABLES[name](found), ""])
    return of_claims(run.verdicts for one in found for run in one.runs)


def page(
    context: typer.Context,
    pages: _Pages,
    add: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Pack this experiment, or all of a campaign's folder, for the first page; "
            "repeatable.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option(CHECK, help="Write nothing; exit with 1 where a page differs.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            EVIDENCE,
            metavar="SOURCE",
            help="Judge the raw packs again: a folder, an address or a git revision has them.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            RESUME, metavar="FILE", help="Note packs that are done here, and skip those noted."
        ),
    ] = None,
) -> int:
    """Rewrite the tables of published pages from the packed runs that each page names.

    A page names its runs (<!-- runs: runs/NAME/*.tar.xz -->, several places with
    a blank between), and where a table or picture goes (<!-- table: loss --> to
    <!-- end -->). All else in it is left as it is. Tables are made from the marts
    beside each pack (NAME.marts.json.xz), or from the pack if it has no marts.

    With --evidence, fetch each raw pack, compare its checksum with evidence.toml,
    and judge its runs again. Marts that differ are rewritten or, with --check,
    reported.
    """
    from harness.campaigns import pages as published
    from harness.campaigns.packed import judge_again

    shell: Shell = context.obj
    read = _read(pages, {ADD: bool(add), CHECK: check}, add or (), source, resume)
    if add and (code := _add(context, read[0], add)):
        return code
    stale = 0
    if source:
        packs = (pack for one in read for pack in one.evidence)
        say = partial(print_text, shell.out)
        stale = judge_again(packs, source, say, writes=not check, resume=resume)
    made = each(read, published.made)
    pairs = list(zip(read, made, strict=True))
    differ = [one.path for one, new in pairs if not new.is_there(one)]
    for one, new in pairs:
        if one.path in differ and not check:
            for path, text in {**new.pictures, one.path: new.text}.items():
                write_whole(path, text)
        said = "is what its runs say"
        if one.path in differ:
            said = "is not what its runs say" if check else "is rewritten, as its runs say"
        print_text(shell.out, f"{one.path}: {said}")
    return DIFFERS if check and (differ or stale) else 0


def expectations(
    context: typer.Context,
    pages: _Pages,
    check: Annotated[
        bool, typer.Option(CHECK, help="Exit with 1 where runs showed what is not expected.")
    ] = False,
    write: Annotated[
        bool,
        typer.Option(
            WRITE, help="Put them into the file beside the pages, for those written before."
        ),
    ] = False,
) -> int:
    """Print results of published runs that expectations.toml lacks, as entries for it.

    Without --check only what a person wrote there counts as known. What could not
    be judged because its run is doubted is no knowledge.
    """
    from harness.campaigns import measured

    shell: Shell = context.obj
    read = _read(pages, {WRITE: write, CHECK: check})
    known = measured.known() if check else measured.known_by_hand()
    found = each(read, lambda one: list(measured.shown(one, known)))
    shown = [entry for entries in found for entry in entries]
    if write:
        text = measured.FILE.read_text(encoding="utf-8")
        text = measured.with_entries(text, shown, [one.path.name for one in read])
        measured.read(text)
        write_whole(measured.FILE, text)
        print_text(shell.out, f"{measured.FILE}: {len(shown)} entries written")
        return 0
    print_lines(shell.out, measured.lines(shown))
    if check and not shown:
        print_text(shell.out, "what these runs showed is expected")
    return DIFFERS if check and shown else 0


def _read(
    paths: Sequence[Path],
    flags: Mapping[str, bool],
    add: Sequence[Path] = (),
    source: str | None = None,
    resume: Path | None = None,
) -> "list[Page]":
    """Return the pages without problems. `flags`: whether each was given; one may be."""
    from harness.campaigns import pages

    problems = [*twice("PAGE", map(str, paths)), *twice(ADD, map(str, add))]
    if resume is not None:
        problems += unwritable(RESUME, resume)
        if source is None:
            problems.append(Problem(RESUME, f"it needs {EVIDENCE}: nothing else is resumed"))
    if all(flags.values()):
        text = f"exclude each other: {CHECK} writes nothing"
        problems.append(Problem(" and ".join(flags), text))
    return each(dict.fromkeys(paths), pages.read, problems)


def _add(context: typer.Context, page: "Page", folders: Sequence[Path]) -> int:
    """Packs what is not there yet; the exit code of the first that was not packed. Raises
    PlanError."""
    from harness.campaigns import pages
    from harness.campaigns.packed import list_packs

    places = pages.places(page, [one for each in folders for one in pages.experiments_in(each)])
    missing = {one: into for one, into in places.items() if not into.exists()}
    problems = [
        replace(problem, place=ADD)
        for experiment, into in missing.items()
        for problem in pack.problems(experiment, into)
    ]
    if problems:
        raise PlanError(problems)
    for into in missing.values():
        into.parent.mkdir(parents=True, exist_ok=True)
    for experiment, into in missing.items():
        if code := pack.pack(context, experiment, into):
            return code
    list_packs(page.path.parent, missing.values())
    return 0
