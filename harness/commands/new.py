"""`mqproof new`: a file to start from."""

import re
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.bounds import Once
from harness.commands.shell import Shell, print_text
from harness.outside.text import brief
from harness.plan.files.toml import SCENARIO_NAME
from harness.plan.files.topology_toml import TOPOLOGY_NAME
from harness.plan.problems import PlanError, Problem
from harness.request import run_request, topology_file
from spark_analysis.files.writing import write_whole

TEMPLATE = "master-crash"

app = typer.Typer(
    help="Write a commented file to start from: a scenario or a topology.", no_args_is_help=True
)

_Name = Annotated[str, typer.Argument(help="NAME.toml is written.")]


@app.command("scenario", cls=Once)
def new_scenario(context: typer.Context, name: _Name) -> int:
    """Write NAME.toml: a commented copy of master-crash that runs at once."""
    path = _path(name, SCENARIO_NAME)
    text = run_request.scenario_text(TEMPLATE).replace(f"run {TEMPLATE} ", f"run {path} ")
    return _write(context.obj, path, text, f"mqproof run {path} --dry-run")


@app.command("topology", cls=Once)
def new_topology(
    context: typer.Context,
    name: _Name,
    compose: Annotated[
        Path | None,
        typer.Option(
            topology_file.FROM_COMPOSE,
            metavar="FILE",
            help="A Compose file: its broker services become the brokers.",
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            topology_file.SYSTEM, help="Its system; if left out, the first that has an example."
        ),
    ] = None,
) -> int:
    """Write NAME.toml: a commented topology file for a cluster that already runs."""
    path = _path(name, TOPOLOGY_NAME)
    if compose is not None and system is not None:
        text = f"{topology_file.FROM_COMPOSE} finds the system in its file; leave one of them out"
        raise PlanError([Problem(topology_file.SYSTEM, text)])
    if compose is None:
        source, text = "NAME", topology_file.example(system).replace("TOPOLOGY", str(path))
    else:
        source, text = str(compose), topology_file.of_compose(compose, path)
    known = run_request.systems(), run_request.layouts()
    topology_file.check_new(text, path, source, *known)
    return _write(context.obj, path, text, f"mqproof doctor --topology {path}")


_NAME = "lower-case letters, digits and hyphens; a letter first"


def _path(name: str, pattern: re.Pattern[str]) -> Path:
    path = Path(f"{name.removesuffix('.toml')}.toml")
    if not pattern.fullmatch(path.stem) or path.name != str(path):
        text = f"{brief(name)} is not a valid name"
        raise PlanError([Problem("NAME", text, expected=_NAME)])
    return path


def _fill(path: Path, text: str) -> None:
    """Write the new file, or remove it: an empty one would be in the way of the next try."""
    try:
        write_whole(path, text)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _write(shell: Shell, path: Path, text: str, next_word: str) -> int:
    try:
        path.touch(exist_ok=False)
        _fill(path, text)
    except FileExistsError:
        raise PlanError([Problem("NAME", f"{path} is already there; nothing written")]) from None
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise PlanError([Problem("NAME", f"{path} cannot be written: {reason}")]) from None
    print_text(shell.out, f"wrote {path}; try: {next_word}")
    return 0
