"""How long a month of nights takes to be judged: many small runs in one report, step by step.

    python -m tests.benchmarks.many_runs EXPERIMENT [--runs 1000] [--master URL]

1. EXPERIMENT is a recorded one. It is named as often as it takes, under other names: its runs are
   the same files, and are judged as often.
2. The environment of its runs is printed beside it, from their manifests.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness.run_folder.experiments import NAME, RUNS
from harness.run_folder.rows import Attempt, read

ROOT = Path(__file__).parents[2]
STEPS = (
    *("verify the sealed runs", "start Spark", "judge the runs"),
    *("verdict: ", "results: ", "replay: "),
)
_ROWS_MAX = 10_000_000


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("experiment", type=Path)
    words.add_argument("--runs", type=int, default=1000)
    words.add_argument("--master", default="")
    options = words.parse_args()
    own = sorted(path for path in (options.experiment / RUNS).iterdir() if path.is_dir())
    print(
        f"{len(own)} runs, of {_median([*_lengths(own)])} attempts and more, each again and again"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folders = [*_copies(options.experiment.resolve(), options.runs, len(own), Path(temporary))]
        command = [sys.executable, "-m", "harness", "analyse", *map(str, folders)]
        command += [
            "--results",
            temporary,
            *(["--master", options.master] if options.master else []),
        ]
        began = time.monotonic()
        steps = [*_timed(command, began)]
        whole_s = time.monotonic() - began
    runs = len(folders) * len(own)
    print(f"{runs} runs in {whole_s:.1f} s: {1000 * whole_s / runs:.0f} ms a run")
    for begins_s, said in steps:
        print(f"{begins_s:7.1f} s  {said}")


def _copies(experiment: Path, runs: int, each: int, into: Path) -> Iterator[Path]:
    record = json.loads((experiment / NAME).read_text())
    for number in range(-(-runs // each)):
        folder = into / f"{experiment.name}-{number:03}"
        folder.mkdir()
        (folder / RUNS).symlink_to(experiment / RUNS)
        (folder / NAME).write_text(json.dumps({**record, "name": folder.name}))
        yield folder


def _lengths(folders: list[Path]) -> Iterator[int]:
    for folder in folders:
        yield len(read(folder, Attempt, _ROWS_MAX))


def _median(numbers: list[int]) -> int:
    return sorted(numbers)[len(numbers) // 2]


def _timed(command: list[str], began: float) -> Iterator[tuple[float, str]]:
    """What it says of its steps, each with when it said so."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(STEPS):
                yield time.monotonic() - began, line.strip()


if __name__ == "__main__":
    main()
