"""`mqproof serve`: every experiment of a results folder, for browsers on this machine."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.shell import RESULTS, Shell, print_text
from harness.outside.files import is_file, is_folder
from harness.plan.problems import PlanError, Problem, no_folder

EXPECTED, ADVICE = "a results folder", "`mqproof run` and `mqproof nightly` write one"
PORT = 8177


def serve(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The results of run or nightly.")
    ] = RESULTS,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = PORT,
) -> int:
    """Show the experiments in DIR to browsers on this machine, until Ctrl-C."""
    # Loaded here: what judges takes long to load.
    from harness.nightly.site import INDEX, SITE
    from harness.report import results_page, serving

    shell: Shell = context.obj
    if not is_folder(folder):
        raise PlanError([no_folder("DIR", folder, EXPECTED, ADVICE)])
    nights = f"{SITE}/{INDEX}" if is_file(folder / SITE / INDEX) else ""
    if not nights and not results_page.all_experiments(folder):
        raise PlanError(
            [Problem("DIR", f"{folder} has no experiment", expected=EXPECTED, advice=ADVICE)]
        )
    try:
        server = serving.server(folder, port, partial(results_page.text, folder, nights))
    except OSError as failure:
        raise PlanError([Problem("--port", f"{port}: {failure.strerror}")]) from None
    with server, suppress(KeyboardInterrupt):
        print_text(shell.out, f"http://{serving.LOOPBACK}:{server.server_port}/ (Ctrl-C ends it)")
        server.serve_forever()
    return 0
