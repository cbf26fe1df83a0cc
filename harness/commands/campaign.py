"""`mqproof campaign`: experiments that fill a matrix, and what is published of their runs."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import campaign_pages, spark
from harness.commands.bounds import Once
from harness.commands.shell import Shell, print_lines, print_text
from harness.commands.together import unwritable, wrong_words
from harness.judging.exits import Exit
from harness.outside.files import is_folder, why_not_replaced
from harness.plan.problems import PlanError, Problem, each
from spark_analysis.files.writing import write_whole

# Each imports what it needs of harness.campaigns itself: what judges takes long to load.
if TYPE_CHECKING:
    from harness.campaigns.cells import Cell, Choice


app = typer.Typer(
    help="Fill a matrix of scenarios and layouts over days, and publish what its runs showed.",
    no_args_is_help=True,
)

_Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="Folder of the experiments. CSV files of runs in it (`collect`) count, too.",
    ),
]
_Systems = Annotated[
    list[str] | None,
    typer.Option("--system", help="Only this system; repeatable. If left out, all."),
]
_Layouts = Annotated[
    list[str] | None,
    typer.Option(
        "--layout", metavar="NAME", help="Only this layout, without its profile; repeatable."
    ),
]
_Scenarios = Annotated[
    list[str] | None, typer.Option("--scenario", help="Only this scenario; repeatable.")
]
_Profile = Annotated[
    str | None,
    typer.Option(
        help="The layouts' timers: what follows the @. If left out, each system's default."
    ),
]
_Deployment = Annotated[
    str | None, typer.Option(help="How systems are run; if left out, each system's default.")
]
_Telling = Annotated[
    bool,
    typer.Option(
        "--telling",
        help="Only the layouts on which a scenario shows most (some sixty cells, not hundreds).",
    ),
]


@app.command("run", cls=Once)
def run(
    context: typer.Context,
    folder: _Folder,
    system: _Systems = None,
    layout: _Layouts = None,
    scenario: _Scenarios = None,
    deployment: _Deployment = None,
    profile: _Profile = None,
    telling: _Telling = False,
    repeats: Annotated[int, typer.Option(help="How often each cell is to be judged.")] = 1,
    minutes: Annotated[
        float,
        typer.Option(help="No experiment begins later (inf: no end); the last one is finished."),
    ] = 60,
    piece: Annotated[
        int, typer.Option(help="Scenarios in an experiment: all on one layout, once each.")
    ] = 6,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Show what remains and comes next; start nothing.")
    ] = False,
    master: spark.MasterOption = "",
    conf: spark.ConfOption = None,
) -> int:
    """Play experiments into FOLDER until every cell of the matrix was judged often enough.

    Repeat the command to continue where it stopped: judged runs are not played
    again. If a run could not be judged, its cell is repeated up to three times.
    Run nothing else on the machine meanwhile.
    """
    from harness.campaigns import playing

    shell: Shell = context.obj
    shell.results = folder
    choice = _choice(system, layout, scenario, profile, deployment, telling)
    pace = playing.Pace(repeats, minutes, piece)
    where, misplaced = spark.place(master, conf)
    wrong = [*pace.problems(), *unwritable("FOLDER", folder), *misplaced]
    cells = _playable(choice, wrong)

    def log(line: str) -> None:
        print_lines(shell.out, [line])

    if dry:
        counts = playing.counted_in(folder)
        print_lines(shell.out, playing.outlook(cells, counts, choice, pace))
        return 0
    _make(folder)
    try:
        play = partial(playing.play, more=where.words)
        done = playing.carry_out(folder, choice, pace, play, log)
    except playing.Stuck as reason:
        print_text(shell.err, f"mqproof: the campaign ends: {reason}")
        return Exit.NOT_DECIDED
    return 0 if done else Exit.NOT_DECIDED


@app.command("table", cls=Once)
def table(
    context: typer.Context,
    folder: _Folder,
    system: _Systems = None,
    layout: _Layouts = None,
    scenario: _Scenarios = None,
    deployment: _Deployment = None,
    profile: _Profile = None,
    telling: _Telling = False,
) -> int:
    """Print the matrix as Markdown: the worst verdict of each cell, and its number of runs.

    Each cell has its rate with 95 % bounds, and says whether it is as
    expected. Below the table stand the cells without a run yet, and those that
    mean nothing, each with its reason.
    """
    from harness.campaigns import cells, stored
    from harness.campaigns.stored import Knowledge
    from harness.claims.claims import shipped

    shell: Shell = context.obj
    choice = _choice(system, layout, scenario, profile, deployment, telling)
    (runs,) = each([folder], stored.some, list(cells.problems(choice)))
    print_lines(shell.out, cells.table(runs, cells.chosen(choice), Knowledge(shipped())))
    return 0


@app.command("collect", cls=Once)
def collect(
    context: typer.Context,
    folder: _Folder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="NAME.csv; overwritten.")
    ],
) -> int:
    """Write every run of FOLDER into one CSV file, which other campaigns can count.

    A run that stands in several places counts once. Put the file into another
    folder, and `run`, `table` and `articles` count its runs there.
    """
    from harness.campaigns import stored

    shell: Shell = context.obj
    problems = list(_no_file(output))
    if not problems and output.exists() and not stored.is_kept(output):
        text = f"{output} is no CSV file of runs, and is left as it is"
        problems.append(Problem("--output", text))
    (found,) = each([folder], stored.some, problems)
    write_whole(output, stored.as_csv(found))
    print_text(shell.out, f"wrote {output} ({len(found):,} runs)")
    return 0


@app.command("articles", cls=Once)
def articles(
    context: typer.Context,
    folder: _Folder,
    system: Annotated[str, typer.Option(help="The system whose runs are to show it.")],
    article: Annotated[
        list[str] | None, typer.Option(help="Only what stands in this one; repeatable.")
    ] = None,
) -> int:
    """Print what the articles claim, each claim with the runs of one system that show it.

    No verdict stands there without a run; each tells the latest run, and the
    command that plays it again. Runs stand as they were judged: `analyse` an
    experiment again where claims have changed.
    """
    from harness.campaigns import article_page, stored
    from harness.claims.claims import shipped, shipped_beside
    from harness.request.run_request import systems

    shell: Shell = context.obj
    beside, wanted = shipped_beside(), article or []
    problems = [
        *wrong_words("--system", "system", [system], [one.name for one in systems()]),
        *wrong_words("--article", "article", wanted, [one.name for one in beside.articles]),
    ]
    (runs,) = each([folder], stored.some, problems)
    selected = article_page.only(beside, wanted)
    print_lines(shell.out, article_page.page(shipped(), selected, runs, system))
    return 0


@app.command("layouts", cls=Once)
def layouts(
    context: typer.Context,
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER...", help="Folders of experiments that are judged."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="NAME.html; overwritten.")
    ],
) -> int:
    """Compare every layout that was played: cost, loss and outage.

    A layout is dominated where another one costs no more, loses no more and is out
    no longer, and is better in one of these; those that are not are the frontier.
    """
    from harness.campaigns import layouts as page
    from harness.judging import verdict_file

    shell: Shell = context.obj
    problems = list(_no_file(output))
    paths = [path for folder in folders for path in sorted(folder.glob(f"*/{verdict_file.NAME}"))]
    if not paths:
        text = f"there is no {verdict_file.NAME} one folder below: {', '.join(map(str, folders))}"
        problems.append(Problem("FOLDER", text))
    (runs,) = each([paths], verdict_file.runs, problems)
    print_lines(shell.out, page.lines(runs))
    print_text(shell.out, f"page: {page.write(runs, output)}")
    return 0


for _name, _command in (
    ("judge", campaign_pages.judge),
    ("page", campaign_pages.page),
    ("expectations", campaign_pages.expectations),
):
    app.command(_name, cls=Once)(_command)


def _choice(
    system: Sequence[str] | None,
    layout: Sequence[str] | None,
    scenario: Sequence[str] | None,
    profile: str | None,
    deployment: str | None,
    telling: bool,
) -> "Choice":
    from harness.campaigns.cells import Choice

    words = tuple(system or ()), tuple(layout or ()), tuple(scenario or ())
    return Choice(*words, profile, deployment, telling)


def _no_file(output: Path) -> Iterator[Problem]:
    """Why no file could be written there."""
    yield from unwritable("--output", output)
    if is_folder(output):
        yield Problem("--output", f"{output} is a folder: name a file")
    elif not is_folder(output.parent):
        yield Problem("--output", f"there is no folder {output.parent}")
    elif reason := why_not_replaced(output):
        yield Problem("--output", f"{output}: {reason}")


def _make(folder: Path) -> None:
    """Raises PlanError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise PlanError([Problem("FOLDER", f"{folder}: {failure.strerror}")]) from None


def _playable(choice: "Choice", problems: Sequence[Problem]) -> "tuple[Cell, ...]":
    """The cells that can run. Raises PlanError, also where there is none: with the reasons."""
    from harness.campaigns import cells

    if wrong := [*problems, *cells.problems(choice)]:
        raise PlanError(wrong)
    whole = cells.chosen(choice)
    if not whole.cells:
        raise PlanError(
            Problem(f"{name} on {layout} of {system}", f"NOT APPLICABLE: {why}")
            for (name, system, layout), why in whole.reasons.items()
        )
    return whole.cells
