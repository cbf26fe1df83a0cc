"""The command line: flags become frozen options and one call; an outcome becomes an exit code.

1. Only this module prints, exits or reads the environment.
2. Exit codes: 0, 1, 2 by what was judged; 130 interrupted; 254 bad input; 255 a crash of ours.
3. Bad input names every problem at once, each with its place and the valid choices.
4. With --json the verdict alone goes to standard output, everything else to standard error.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from harness.analyse import claims, experiments
from harness.deploy import catalogue
from harness.deploy.port import DeployError
from harness.plan import misbehave
from harness.plan.problems import PlanError, Problem, unknown
from harness.plan.toml import SCENARIO_NAME
from harness.plan.topology_toml import TOPOLOGY_NAME
from harness.report import asking, demo, dry_run, external, html, junit, listing, verdict
from harness.report.display import INTERRUPTED, Judge, Pipeline, Report, RunOptions
from harness.report.terminal import Terminal

NOT_DECIDED = 2
BAD_INPUT = 254
CRASH = 255
TEMPLATE = "master-crash"
PLAIN_WIDTH = 120  # columns where there is no terminal to ask

# typer carries a click of its own; its exceptions are found through what it exports.
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__bases__[0])

_WORLD = (
    ("harness.analyse.marts", "NothingRecorded"),
    ("spark_analysis.engine.java", "NoJava"),
)

app = typer.Typer(
    help="Proves or refutes the high-availability claims of message brokers.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
new = typer.Typer(help="Write a file to start from.", no_args_is_help=True)
app.add_typer(new, name="new")
reference = typer.Typer(help="Run a reference cluster to play with.", no_args_is_help=True)
app.add_typer(reference, name="reference")


class Topic(StrEnum):
    """What `list` can show."""

    SYSTEMS = "systems"
    LAYOUTS = "layouts"
    SCENARIOS = "scenarios"
    FAULTS = "faults"
    OPERATIONS = "operations"
    CLIENTS = "clients"
    CLAIMS = "claims"


def load_pipeline() -> Pipeline:
    """The real pipeline; loaded when it is needed, for Docker and Spark take their time."""
    from harness import pipeline

    return pipeline


@dataclass(slots=True)
class Shell:
    """What a command has at hand. `results` is where a crash leaves its traceback."""

    load: Callable[[], Pipeline]
    out: Console
    err: Console
    results: Path = field(default_factory=lambda: Path("results"))

    def display(self, as_json: bool) -> Terminal:
        return Terminal(self.err if as_json else self.out, time.monotonic)


def main(argv: Sequence[str] | None = None, load: Callable[[], Pipeline] = load_pipeline) -> int:
    """One command, from its arguments to its exit code."""
    shell = Shell(load, _console(sys.stdout.isatty()), _console(sys.stderr.isatty(), stderr=True))
    try:
        code = app(args=argv, prog_name="mqproof", obj=shell, standalone_mode=False)
    except _USAGE_ERROR as error:
        return _bad_usage(shell, error)
    except (PlanError, catalogue.CatalogueError) as error:
        return _say(shell, f"bad input:\n{error}", BAD_INPUT)
    except DeployError as error:
        return _say(shell, f"nothing was judged: {error}", NOT_DECIDED)
    except (KeyboardInterrupt, typer.Abort):
        return _say(shell, "interrupted", INTERRUPTED)
    except SystemExit:
        return CRASH  # typer ends so when nobody reads our output any more
    except Exception as error:  # the last resort: whatever it is, it gets its own exit code
        if _is_of_the_world(error):
            return _say(shell, f"nothing was judged: {error}", NOT_DECIDED)
        return _crash(shell, error)
    return code if isinstance(code, int) else 0


@app.command()
def run(
    context: typer.Context,
    scenarios: Annotated[
        list[str], typer.Argument(metavar="SCENARIO...", help="Names, or paths to .toml files.")
    ],
    system: Annotated[
        list[str] | None, typer.Option(help="System under test; repeatable.")
    ] = None,
    layout: Annotated[
        list[str] | None,
        typer.Option(help="NAME@PROFILE, NAME, a pattern with *, or a path; repeatable."),
    ] = None,
    client: Annotated[list[str] | None, typer.Option(help="Client library; repeatable.")] = None,
    deployment: Annotated[str, typer.Option(help="How the system is run.")] = "",
    topology: Annotated[
        str, typer.Option(metavar="FILE", help="Brokers that are there, instead of a system.")
    ] = "",
    repeats: Annotated[int, typer.Option(help="Runs of each cell.")] = 1,
    seed: Annotated[int | None, typer.Option(help="Fixes every choice; shown at the end.")] = None,
    results: Annotated[Path, typer.Option(help="Folder that experiments go into.")] = Path(
        "results"
    ),
    judge: Annotated[Judge, typer.Option(help="What decides the exit code.")] = Judge.CLAIMS,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the cluster standing.")] = False,
    wrong: Annotated[
        str, typer.Option(misbehave.FLAG, metavar="KIND[:SHARE]", help=misbehave.HELP)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Verdict as JSON on stdout.")] = False,
    dry: Annotated[bool, typer.Option("--dry-run", help="Show the plan, start nothing.")] = False,
) -> int:
    """Run scenarios against systems, and judge what happened."""
    shell: Shell = context.obj
    shell.results = results
    asked = asking.Asked(
        tuple(scenarios),
        tuple(system or ()),
        tuple(layout or ()),
        tuple(client or ()),
        deployment,
        repeats,
        secrets.randbits(31) if seed is None else seed,
        wrong,
        topology,
    )
    experiment = asking.experiment_of(asked, _stamp())
    misbehaving = misbehave.parse(wrong, experiment)
    if dry:
        _print_lines(shell.out, dry_run.lines(experiment))
        return 0
    if problems := tuple(external.problems_before(experiment, keep, os.environ)):
        raise PlanError(problems)
    display = shell.display(as_json)
    try:
        replay = asking.replay(asked, judge.value)
        options = RunOptions(results, judge, keep, replay, misbehaving)
        report = shell.load().run(experiment, options, display)
    finally:
        display.close()
    return _finish(report, display, as_json)


@app.command("demo")
def show_demo(
    context: typer.Context,
    seed: Annotated[int | None, typer.Option(help="Fixes every choice; shown at the end.")] = None,
    results: Annotated[Path, typer.Option(help="Folder that the experiment goes into.")] = Path(
        "results"
    ),
) -> int:
    """See what it does, in a minute and a half, with nothing but Python."""
    shell: Shell = context.obj
    shell.results = results
    seed = secrets.randbits(31) if seed is None else seed
    display = shell.display(False)
    try:
        options = RunOptions(results, Judge.EXPECTATIONS, replay=demo.replay(seed))
        report = shell.load().run(demo.experiment_of(seed, _stamp()), options, display)
    finally:
        display.close()
    files = _write(report, display)
    shell.out.print()
    shell.out.print(demo.table(report))
    _print_lines(shell.out, [*(f"wrote {file}" for file in files), *demo.last_lines(report)])
    return report.exit_code


@app.command()
def analyse(
    context: typer.Context,
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Experiments' folders.")],
    results: Annotated[
        Path, typer.Option(help="Folder that the report over several experiments goes into.")
    ] = Path("results"),
    judge: Annotated[Judge, typer.Option(help="What decides the exit code.")] = Judge.CLAIMS,
    as_json: Annotated[bool, typer.Option("--json", help="Verdict as JSON on stdout.")] = False,
) -> int:
    """Judge stored experiments again, several in one report; nothing is started but Spark."""
    shell: Shell = context.obj
    problems = tuple(experiments.problems(folders))
    if problems:
        raise PlanError(problems)
    into = folders[0] if len(folders) == 1 else results / f"{_stamp()}-merged"
    shell.results = into
    display = shell.display(as_json)
    try:
        report = shell.load().analyse(folders, into, judge, display)
    finally:
        display.close()
    return _finish(report, display, as_json)


@app.command()
def heal(context: typer.Context) -> int:
    """Undo faults and remove clusters that dead runs left behind."""
    shell: Shell = context.obj
    return 0 if shell.load().heal(shell.display(False)) else NOT_DECIDED


@app.command()
def doctor(
    context: typer.Context,
    topology: Annotated[
        str, typer.Option(metavar="FILE", help="Look at these brokers; nothing is touched.")
    ] = "",
) -> int:
    """Say what is missing here, and how to get it. Exit code 2: something is."""
    shell: Shell = context.obj
    if not topology:
        return 0 if shell.load().doctor(shell.display(False)) else NOT_DECIDED
    named = external.read(topology, asking.systems())
    return 0 if shell.load().doctor_of(named, shell.display(False)) else NOT_DECIDED


@app.command()
def build(
    context: typer.Context,
    system: Annotated[
        list[str] | None, typer.Option(help="Systems to build for; all without.")
    ] = None,
) -> int:
    """Fetch or build every image ahead of time."""
    shell: Shell = context.obj
    names = catalogue.system_names()
    chosen = tuple(system or ())
    problems = [unknown("--system", "system", word, names) for word in chosen if word not in names]
    if problems:
        raise PlanError(problems)
    display = shell.display(False)
    try:
        shell.load().build(chosen or names, display)
    finally:
        display.close()
    return 0


@app.command("list")
def list_(
    context: typer.Context, topic: Annotated[Topic, typer.Argument(help="What to list.")]
) -> int:
    """Show what there is to choose from."""
    shell: Shell = context.obj
    for table in _tables(topic):
        shell.out.print(table)
        shell.out.print()
    return 0


@new.command("scenario")
def new_scenario(
    context: typer.Context, name: Annotated[str, typer.Argument(help="NAME.toml is written.")]
) -> int:
    """Write NAME.toml: a commented copy of master-crash that runs at once."""
    path = _new_path(name, SCENARIO_NAME)
    text = asking.scenario_text(TEMPLATE).replace(f"run {TEMPLATE} ", f"run {path} ")
    return _write_new(context.obj, path, text, f"mqproof run {path} --dry-run")


@new.command("topology")
def new_topology(
    context: typer.Context, name: Annotated[str, typer.Argument(help="NAME.toml is written.")]
) -> int:
    """Write NAME.toml: brokers that are there, and what may be done to them, commented."""
    path = _new_path(name, TOPOLOGY_NAME)
    text = external.example().replace("TOPOLOGY", str(path))
    return _write_new(context.obj, path, text, f"mqproof doctor --topology {path}")


def _new_path(name: str, pattern: re.Pattern[str]) -> Path:
    path = Path(f"{name.removesuffix('.toml')}.toml")
    if not pattern.fullmatch(path.stem) or path.name != str(path):
        raise PlanError(
            [Problem("NAME", f"small letters, digits and hyphens, a letter first; not {name!r}")]
        )
    return path


def _write_new(shell: Shell, path: Path, text: str, next_word: str) -> int:
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise PlanError([Problem("NAME", f"{path} is already there; nothing written")]) from None
    shell.out.print(Text(f"wrote {path}; try: {next_word}"), soft_wrap=True)
    return 0


@reference.command("mirrored")
def reference_mirrored(
    nodes: Annotated[int, typer.Option(min=1, max=9, help="How many.")] = 3,
    port: Annotated[
        int, typer.Option(min=1, max=45000, help="Of the first node; the next ones follow.")
    ] = 5672,
    net_ticktime: Annotated[
        float, typer.Option(min=0.1, help="Seconds until a silent peer is given up.")
    ] = 60.0,
    pause_minority: Annotated[
        bool, typer.Option("--pause-minority", help="Nodes in a minority stop serving.")
    ] = False,
) -> int:
    """Mirrored queues as RabbitMQ 3.10 has them, on 127.0.0.1, until Ctrl-C."""
    words = ["--nodes", str(nodes), "--port", str(port), "--net-ticktime", str(net_ticktime)]
    words += ["--partition-handling", "pause_minority" if pause_minority else "ignore"]
    command = [sys.executable, "-m", "reference_impl", "mirrored", *words]
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return process.wait()  # it was interrupted as well, and stops its nodes


# --- from an outcome to words and an exit code ---------------------------------------------------


def _finish(report: Report, display: Terminal, as_json: bool) -> int:
    files = _write(report, display) if report.folder.is_dir() else ()
    if as_json:
        print(verdict.text(report), end="")
        for path in files:
            display.message(str(path))
    else:
        display.report(report, files)
    return report.exit_code


def _write(report: Report, display: Terminal) -> tuple[Path, ...]:
    """The files of a report that could be written; a full disk does not hide the verdict."""
    files = []
    for file in (verdict, junit, html):
        try:
            files.append(file.write(report, report.folder))
        except OSError as failure:
            display.message(f"{file.NAME} was not written: {failure}")
    return tuple(files)


def _tables(topic: Topic) -> Iterable[RenderableType]:
    match topic:
        case Topic.SYSTEMS:
            return [listing.systems(asking.systems())]
        case Topic.LAYOUTS:
            return [listing.layouts(asking.layouts())]
        case Topic.SCENARIOS:
            return [listing.scenarios(map(asking.scenario, asking.scenario_names()))]
        case Topic.FAULTS:
            return listing.faults()
        case Topic.OPERATIONS:
            return listing.operations()
        case Topic.CLIENTS:
            return [listing.clients(asking.systems())]
        case Topic.CLAIMS:
            return listing.claims(claims.shipped())


def _stamp() -> str:
    """A name that no other file or experiment of this machine has."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _console(is_terminal: bool, stderr: bool = False) -> Console:
    width = None if is_terminal else max(PLAIN_WIDTH, shutil.get_terminal_size().columns)
    return Console(stderr=stderr, width=width, highlight=False)


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _say(shell: Shell, text: str, code: int) -> int:
    shell.err.print(Text(f"mqproof: {text}"), soft_wrap=True)
    return code


def _bad_usage(shell: Shell, error: Any) -> int:
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "mqproof"
    message = error.format_message() or "a command is missing"
    return _say(shell, f"bad input: {message}\nTry: {where} --help", BAD_INPUT)


def _is_of_the_world(error: Exception) -> bool:
    """Whether the analysis could not begin: no fault of ours, but nothing was judged.

    Its modules load Spark, so they are asked only where the pipeline has loaded them already.
    """
    return any(
        name in sys.modules and isinstance(error, getattr(sys.modules[name], word))
        for name, word in _WORLD
    )


def _crash(shell: Shell, error: Exception) -> int:
    text = "".join(traceback.format_exception(error))
    told = f"this is a fault of mqproof itself: {type(error).__name__}: {error}"
    for folder in (shell.results, Path(tempfile.gettempdir())):
        path = folder / f"crash-{_stamp()}.txt"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError:
            continue
        return _say(shell, f"{told}\nthe traceback is in {path}", CRASH)
    return _say(shell, f"{told}\n{text}", CRASH)


if __name__ == "__main__":
    sys.exit(main())
