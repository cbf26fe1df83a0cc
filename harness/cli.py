"""The command line: flags become frozen options and one call; an outcome becomes an exit code.

1. Only this module and the commands print, exit or read the environment.
2. Exit codes are those of judging/exits.py, which decides by what was judged; here an exception
   becomes one.
3. Bad input names every problem at once, each with its place and the valid choices.
4. With --json the verdict alone goes to standard output, everything else to standard error.
"""

import errno
import io
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.text import Text

from harness.commands import bounds, crash, outlets
from harness.commands.shell import Shell
from harness.judging.exits import NOTHING_DONE, NOTHING_JUDGED, Exit
from harness.outside.files import FOLDER_ADVICE, FOLDER_GONE, is_folder_gone
from harness.outside.homes import NoHome
from harness.outside.text import one_line, visible, whole_marks
from harness.plan.problems import PlanError
from harness.run import signals
from spark_analysis.files.failed import OURS, os_reason

if TYPE_CHECKING:
    from harness.pipeline.port import Pipeline

_COMPLETING = "_MQPROOF_COMPLETE"  # a shell that completes a command line sets it

PLAIN_WIDTH = 120  # columns where there is no terminal to ask

# typer carries a click of its own; its exceptions are found through what it exports.
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__bases__[0])

# What a disk or a system refuses, wherever that was: no fault of ours either.
_REFUSED = (
    *(errno.EACCES, errno.EAGAIN, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ELOOP, errno.EMFILE),
    *(errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS),
    errno.ESTALE,
)
_WORLD = (
    ("harness.cluster.port", "DeployError"),
    ("harness.analyse.marts", "NothingRecorded"),
    ("spark_analysis.engine.failing", "SparkFailed"),
    ("spark_analysis.engine.store", "Unbrought"),
)

# Where a command is, in the order in which --help shows them; it is loaded when it is asked for.
_COMMANDS = {
    "run": "run.run",
    "demo": "demo.show_demo",
    "analyse": "analyse.analyse",
    "compare": "compare.compare",
    "nightly": "nightly.nightly",
    "serve": "serve.serve",
    "pack": "pack.pack",
    "judge": "judge.judge",
    "up": "by_hand.up",
    "status": "by_hand.status",
    "fault": "by_hand.fault",
    "down": "by_hand.down",
    "heal": "machine.heal",
    "doctor": "machine.doctor",
    "build": "machine.build",
    "list": "choices.list_",
}
_GROUPS = {"campaign": "campaign.app", "new": "new.app", "reference": "reference.app"}


def load_pipeline() -> "Pipeline":
    """The real pipeline; loaded when it is needed, for Docker and Spark take their time."""
    from harness.pipeline import stages

    return stages


def main(argv: Sequence[str] | None = None, load: "Callable[[], Pipeline]" = load_pipeline) -> int:
    """One command, from its arguments to its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may know few characters
        sys.stdout.reconfigure(errors="backslashreplace")
    with signals.handled(signals.end), outlets.guarded() as out:
        code = _main(argv, load)
        out.flush()
        return _code_after(out.refusals, code)


def _code_after(refusals: Sequence[str], code: int) -> int:
    """Return what was decided, but never 0 where some of the words did not reach their reader."""
    for refusal in refusals:
        print(f"mqproof: not all was written: {refusal}", file=sys.stderr)
    return Exit.NOT_DECIDED if refusals and code == Exit.PASSED else code


def _main(argv: Sequence[str] | None, load: "Callable[[], Pipeline]") -> int:
    shell = Shell(load, _console(sys.stdout.isatty()), _console(sys.stderr.isatty(), stderr=True))
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if problems := tuple(bounds.problems(words)):
            raise PlanError(problems)
        code = _program(words)(args=words, prog_name="mqproof", obj=shell, standalone_mode=False)
    except _USAGE_ERROR as error:
        return _bad_usage(shell, error, words)
    except (PlanError, NoHome) as error:
        return _say(shell, f"bad input:\n{error}", Exit.BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        signals.silence()
        return _say(shell, "interrupted", Exit.INTERRUPTED)
    except SystemExit as end:
        if _COMPLETING in os.environ:  # typer has written what a shell's completion wanted
            return end.code if isinstance(end.code, int) else 0
        return Exit.CRASH  # typer's own words have no reader any more
    except Exception as error:  # the last resort: whatever it is, it gets its own exit code
        if isinstance(error, OSError) and error.errno in _REFUSED:
            reason = os_reason(error, None)
            return _say(shell, f"{_nothing(words)}: {reason}", Exit.NOT_DECIDED)
        if isinstance(error, FileNotFoundError) and is_folder_gone():
            reason = f"{FOLDER_GONE}: {FOLDER_ADVICE}"
            return _say(shell, f"{_nothing(words)}: {reason}", Exit.NOT_DECIDED)
        if isinstance(error, MemoryError):
            reason = "the machine has no memory left for it: close other programs, or judge less"
            return _say(shell, f"{_nothing(words)}: {reason}", Exit.NOT_DECIDED)
        if _is_of_the_world(error):
            text = str(error).replace("\n", "\n    ")  # no line of it passes for one of ours
            return _say(shell, f"{_nothing(words)}: {text}", Exit.NOT_DECIDED)
        return _crash(shell, error)
    return code if isinstance(code, int) else 0


def _nothing(words: Sequence[str]) -> str:
    """What did not happen, by what the command is for."""
    return NOTHING_DONE.get(words[0] if words else "", NOTHING_JUDGED)


def _program(words: Sequence[str]) -> typer.Typer:
    """What these words ask for; the whole of it where that is help, or nothing that is there."""
    program = typer.Typer(
        help="mqproof tests the high-availability claims of message brokers.",
        callback=_options,  # with one command it stays a command of a program
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        epilog="Exit codes: `mqproof COMMAND --help` shows them for each command.",
    )
    command = words[0] if words else ""
    alone = command in _COMMANDS or command in _GROUPS
    for name, where in _COMMANDS.items():
        if name == command or not alone:
            program.command(name, cls=bounds.Once)(_loaded(where))
    for name, where in _GROUPS.items():
        if name == command or not alone:
            program.add_typer(_loaded(where), name=name)
    return program


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"mqproof {_version()}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Typer reads the options that stand before a command here."""


def _version() -> str:
    try:
        return metadata.version("mqproof")
    except metadata.PackageNotFoundError:
        return "of a checkout that is not installed"


def _loaded(where: str) -> Any:
    module, _, name = where.partition(".")
    return getattr(import_module(f"harness.commands.{module}"), name)


def _console(is_terminal: bool, stderr: bool = False) -> Console:
    width = None if is_terminal else max(PLAIN_WIDTH, shutil.get_terminal_size().columns)
    return Console(stderr=stderr, width=width, highlight=False)


def _say(shell: Shell, text: str, code: Exit) -> Exit:
    shell.err.print(Text(visible(f"mqproof: {text}")), soft_wrap=True)
    return code


def _bad_usage(shell: Shell, error: Any, words: Sequence[str]) -> int:
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "mqproof"
    message = bounds.shortened(error.format_message() or "a command is missing", words)
    return _say(shell, f"bad input: {message}\nTry: {where} --help", Exit.BAD_INPUT)


def _is_of_the_world(error: Exception) -> bool:
    """Whether a cluster or the analysis could not begin: no fault of ours, but nothing was judged.

    Their modules take their time, so they are asked only where they have been loaded already.
    """
    return any(
        name in sys.modules and isinstance(error, getattr(sys.modules[name], word))
        for name, word in _WORLD
    )


def _crash(shell: Shell, error: Exception) -> int:
    text = "".join(traceback.format_exception(error))
    summary = f"{OURS}: {type(error).__name__}: {one_line(str(error))}"
    path = crash.keep(whole_marks(text), shell.results)
    return _say(shell, f"{summary}\n{f'the traceback is in {path}' if path else text}", Exit.CRASH)


if __name__ == "__main__":
    sys.exit(main())
