"""`mqproof pack`: an experiment's runs, or one run, as a file that anybody can judge again."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.shell import Shell, print_text
from harness.judging.exits import Exit
from harness.outside.files import is_file, why_not_written
from harness.outside.text import one_line
from harness.plan.problems import PlanError, Problem, unknown
from harness.run import folder_lock
from harness.run_folder import claims_copy, experiments, packing
from spark_analysis.files.failed import os_reason

OUTPUT = "--output"


def pack(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of an experiment, or of one run.")
    ],
    output: Annotated[
        Path, typer.Option(OUTPUT, "-o", metavar="FILE", help=f"NAME{packing.SUFFIX} to write.")
    ],
) -> int:
    """Pack whole runs, without logs; `analyse` judges the unpacked runs again."""
    shell: Shell = context.obj
    experiment = _experiment_of(folder)
    if wrong := problems(experiment, output):
        raise PlanError(wrong)
    stored = experiments.recall(experiment)
    chosen = [run for run in stored.runs if folder == experiment or run.name == folder.name]
    if not chosen:
        names = [run.name for run in stored.runs]
        raise PlanError([unknown("DIR", f"run of {experiment}", folder.name, names)])
    document = experiments.document_of(experiment, [run.name for run in chosen])
    with folder_lock.alone([experiment]):
        return _pack(shell, stored, chosen, document, output)


def _pack(
    shell: Shell,
    stored: experiments.Stored,
    chosen: Sequence[experiments.StoredRun],
    document: str,
    output: Path,
) -> int:
    try:
        there = [run.folder for run in chosen if run.folder.is_dir()]
        if not there:
            raise packing.NotPacked(f"{stored.folder} holds none of the runs that were chosen")
        packing.pack(stored.name, _documents(stored, document), there, output)
    except (packing.NotPacked, OSError) as failure:
        reason = os_reason(failure, output) if isinstance(failure, OSError) else failure
        print_text(shell.err, f"mqproof: nothing was packed:\n{reason}")
        return Exit.NOT_DECIDED
    size_kb = output.stat().st_size / 1000
    message = f"wrote {output} ({len(there)} of {len(chosen)} runs, {size_kb:,.0f} kB)"
    name, file = shlex.quote(stored.name), shlex.quote(str(output))
    print_text(shell.out, one_line(f"{message}; try: tar xf {file} && mqproof analyse {name}"))
    return 0


def _documents(stored: experiments.Stored, document: str) -> dict[str, str]:
    """Return what lies beside the runs: experiment.json, and the user's own claims."""
    claims = {claims_copy.NAME: stored.claims.text} if stored.claims else {}
    return {experiments.NAME: document, **claims}


def _experiment_of(folder: Path) -> Path:
    """A run lies in runs/ of its experiment."""
    inside = folder.parent.name == experiments.RUNS and not is_file(folder / experiments.NAME)
    return folder.parent.parent if inside else folder


def problems(experiment: Path, output: Path) -> list[Problem]:
    """Everything that speaks against packing an experiment's folder into this file."""
    found = list(experiments.problems([experiment]))
    if not found and experiments.recall(experiment).pieces:
        found.append(Problem("DIR", f"{experiment} holds no runs: pack each of its experiments"))
    found += [] if found else folder_lock.problems([experiment])
    if not output.name.endswith(packing.SUFFIX):
        found.append(Problem(OUTPUT, f"{output} does not end with {packing.SUFFIX}"))
    if reason := why_not_written(output):
        found.append(Problem(OUTPUT, f"{output}: {reason}"))
    elif output.exists():
        found.append(Problem(OUTPUT, f"{output} is already there; nothing written"))
    return found
