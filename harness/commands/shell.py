"""What every command has at hand, and the options that several of them take."""

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from harness.judging.exits import Judge
from harness.outside.text import one_line, visible

if TYPE_CHECKING:  # saves commands that only read half a second
    from harness.pipeline.port import Pipeline
    from harness.report.console.terminal import Terminal

LINES_AT_ONCE = 500
RESULTS = Path("results")

SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0, max=2**63 - 1, help="Fixes every random choice; a run prints its seed at the end."
    ),
]
JudgeOption = Annotated[Judge, typer.Option(help="What decides the exit code.")]
ClaimsOption = Annotated[
    str | None,
    typer.Option(
        "--claims",
        metavar="FILE",
        help="Judge by claims of your own, too: a TOML file (docs/own-claims.md).",
    ),
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Show claims that do not apply, too, each with its reason.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Verdict as JSON on stdout.")]


@dataclass(slots=True)
class Shell:
    """What a command has at hand. `results` is where a crash leaves its traceback."""

    load: "Callable[[], Pipeline]"
    out: Console
    err: Console
    results: Path = RESULTS

    def display(self, as_json: bool = False, whole: bool = False) -> "Terminal":
        from harness.report.console.terminal import Terminal

        return Terminal(self.err if as_json else self.out, time.monotonic, whole)


def stamp() -> str:
    """A name that no other file or experiment of this machine has."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def seed_of(given: int | None) -> int:
    """Return the given seed, or a random one."""
    return secrets.randbits(31) if given is None else given


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Each as one line, whatever stands in it."""
    every = map(one_line, lines)
    # rich takes its time for each print, and a plan may have very many lines.
    while some := list(islice(every, LINES_AT_ONCE)):
        console.out("\n".join(some), highlight=False)


def print_text(console: Console, text: str) -> None:
    """It may have several lines: from the second on they stand in, so that none of somebody else's
    text passes for a line of ours."""
    console.print(Text(visible(text).replace("\n", "\n    ")), soft_wrap=True)
