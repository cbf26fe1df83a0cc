"""`mqproof new`: a file to start from."""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.commands.shell import Shell
from harness.plan.problems import PlanError, Problem
from harness.plan.toml import SCENARIO_NAME
from harness.plan.topology_toml import TOPOLOGY_NAME
from harness.report import asking, external

TEMPLATE = "master-crash"

app = typer.Typer(help="Write a file to start from.", no_args_is_help=True)

_Name = Annotated[str, typer.Argument(help="NAME.toml is written.")]


@app.command("scenario")
def new_scenario(context: typer.Context, name: _Name) -> int:
    """Write NAME.toml: a commented copy of master-crash that runs at once."""
    path = _path(name, SCENARIO_NAME)
    text = asking.scenario_text(TEMPLATE).replace(f"run {TEMPLATE} ", f"run {path} ")
    return _write(context.obj, path, text, f"mqproof run {path} --dry-run")


@app.command("topology")
def new_topology(context: typer.Context, name: _Name) -> int:
    """Write NAME.toml: brokers that are there, and what may be done to them, commented."""
    path = _path(name, TOPOLOGY_NAME)
    text = external.example().replace("TOPOLOGY", str(path))
    return _write(context.obj, path, text, f"mqproof doctor --topology {path}")


def _path(name: str, pattern: re.Pattern[str]) -> Path:
    path = Path(f"{name.removesuffix('.toml')}.toml")
    if not pattern.fullmatch(path.stem) or path.name != str(path):
        raise PlanError(
            [Problem("NAME", f"small letters, digits and hyphens, a letter first; not {name!r}")]
        )
    return path


def _write(shell: Shell, path: Path, text: str, next_word: str) -> int:
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise PlanError([Problem("NAME", f"{path} is already there; nothing written")]) from None
    shell.out.print(Text(f"wrote {path}; try: {next_word}"), soft_wrap=True)
    return 0
