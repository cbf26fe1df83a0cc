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
from typing import Any, cast

import typer
from rich.console import Console
from rich.text import Text

from harness.cluster.port import DeployError
from harness.commands import (
    analyse,
    bounds,
    campaign,
    choices,
    compare,
    crash,
    demo,
    judge,
    machine,
    new,
    nightly,
    pack,
    reference,
    run,
)
from harness.commands.shell import Shell
from harness.judging.exits import Exit
from harness.outside.text import visible, whole_marks
from harness.pipeline.port import Pipeline
from harness.plan.problems import PlanError
from harness.run import signals
from spark_analysis.schema.failed import OURS, os_reason

PLAIN_WIDTH = 120  # columns where there is no terminal to ask

# typer carries a click of its own; its exceptions are found through what it exports.
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__bases__[0])

# What a disk or a system refuses, wherever that was: no fault of ours either.
_REFUSED = (
    *(errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE),
    *(errno.ENOMEM, errno.ENOSPC, errno.EPERM, errno.EROFS, errno.ESTALE),
)
_WORLD = (
    ("harness.analyse.marts", "NothingRecorded"),
    ("spark_analysis.engine.failing", "SparkFailed"),
    ("spark_analysis.engine.store", "Unbrought"),
)

app = typer.Typer(
    help="Proves or refutes the high-availability claims of message brokers.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
# In the order in which --help shows them.
for _name, _command in (
    ("run", run.run),
    ("demo", demo.show_demo),
    ("analyse", analyse.analyse),
    ("compare", compare.compare),
    ("nightly", nightly.nightly),
    ("serve", nightly.serve),
    ("pack", pack.pack),
    ("judge", judge.judge),
    ("heal", machine.heal),
    ("doctor", machine.doctor),
    ("build", machine.build),
    ("list", choices.list_),
):
    app.command(_name, cls=bounds.Once)(_command)
app.add_typer(campaign.app, name="campaign")
app.add_typer(new.app, name="new")
app.add_typer(reference.app, name="reference")


def load_pipeline() -> Pipeline:
    """The real pipeline; loaded when it is needed, for Docker and Spark take their time."""
    from harness.pipeline import stages

    return stages


def main(argv: Sequence[str] | None = None, load: Callable[[], Pipeline] = load_pipeline) -> int:
    """One command, from its arguments to its exit code."""
    with signals.heard(signals.end):
        return _main(argv, load)


def _main(argv: Sequence[str] | None, load: Callable[[], Pipeline]) -> int:
    shell = Shell(load, _console(sys.stdout.isatty()), _console(sys.stderr.isatty(), stderr=True))
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may know few characters
        sys.stdout.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if problems := tuple(bounds.problems(words)):
            raise PlanError(problems)
        code = app(args=words, prog_name="mqproof", obj=shell, standalone_mode=False)
    except _USAGE_ERROR as error:
        return _bad_usage(shell, error, words)
    except PlanError as error:
        return _say(shell, f"bad input:\n{error}", Exit.BAD_INPUT)
    except DeployError as error:
        return _say(shell, f"nothing was judged: {error}", Exit.NOT_DECIDED)
    except (KeyboardInterrupt, typer.Abort):
        signals.silence()
        return _say(shell, "interrupted", Exit.INTERRUPTED)
    except SystemExit:
        return Exit.CRASH  # typer's own words have no reader any more
    except Exception as error:  # the last resort: whatever it is, it gets its own exit code
        if isinstance(error, OSError) and error.errno in _REFUSED:
            reason = os_reason(error, shell.results)
            return _say(shell, f"nothing was judged: {reason}", Exit.NOT_DECIDED)
        if _is_of_the_world(error):
            return _say(shell, f"nothing was judged: {error}", Exit.NOT_DECIDED)
        return _crash(shell, error)
    return code if isinstance(code, int) else 0


class _Console(Console):
    """Goes on where rich ends the program: what was begun is worth more than its reader."""

    def on_broken_pipe(self) -> None:
        nobody = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nobody, self.file.fileno())
        os.close(nobody)


def _console(is_terminal: bool, stderr: bool = False) -> Console:
    width = None if is_terminal else max(PLAIN_WIDTH, shutil.get_terminal_size().columns)
    return _Console(stderr=stderr, width=width, highlight=False)


def _say(shell: Shell, text: str, code: Exit) -> Exit:
    shell.err.print(Text(visible(f"mqproof: {text}")), soft_wrap=True)
    return code


def _bad_usage(shell: Shell, error: Any, words: Sequence[str]) -> int:
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "mqproof"
    message = bounds.shortened(error.format_message() or "a command is missing", words)
    return _say(shell, f"bad input: {message}\nTry: {where} --help", Exit.BAD_INPUT)


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
    told = f"{OURS}: {type(error).__name__}: {error}"
    path = crash.keep(whole_marks(text), shell.results)
    return _say(shell, f"{told}\n{f'the traceback is in {path}' if path else text}", Exit.CRASH)


if __name__ == "__main__":
    sys.exit(main())
