"""What `mqproof judge` takes for a history of 1,000 and of 1,000,000 rows, side by side.

usage: python -m tests.benchmarks.judge_rows [--rows 1000 1000000] [--repeats 3]
A row is an attempt, a settlement or a delivery. One publisher sends to one queue, each message is
confirmed and delivered once, and a fault of 3 s lies in the middle. The history declares little,
so many claims are INCONCLUSIVE (exit code 2) after they were evaluated. Times include the start of
Python. Nothing else should run on the machine.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.judging.exits import Exit

S = 1_000_000_000
TABLES = 3  # one row in each for a message
LOAD_S = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {rows: written(Path(folder), rows) for rows in options.rows}
        found = [[measured(files[rows]) for rows in files] for _ in range(options.repeats)]
    for number, rows in enumerate(files):
        seconds = [each[number][0] for each in found]
        memory = max(each[number][1] for each in found)
        print(
            f"{rows:>9,} rows: {statistics.median(seconds):.1f} s"
            f" ({min(seconds):.1f} to {max(seconds):.1f}), {memory / 1024:.0f} MiB of one process"
        )
    ratios = [each[-1][0] / each[0][0] for each in found]
    print(
        f"last to first: {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
    )


def measured(file: Path) -> tuple[float, int]:
    """Return the seconds of one command, and the KiB of its largest process."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "judge", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    if os.waitstatus_to_exitcode(status) not in (Exit.PASSED, Exit.NOT_DECIDED):
        raise SystemExit(f"{file}: it was not judged, or something failed:\n{output.decode()}")
    return seconds, usage.ru_maxrss


def written(folder: Path, rows: int) -> Path:
    file = folder / f"{rows}.json.gz"
    with gzip.open(file, "wt", compresslevel=1) as stream:
        json.dump(history(rows // TABLES), stream)
    return file


def history(messages: int) -> dict[str, Any]:
    """A healthy run of so many messages, at an even rate over LOAD_S."""
    due = [S + number * LOAD_S * S // messages for number in range(messages)]
    same = {"producer": 1, "sequence": [*range(messages)], "attempt": 1}
    return {
        "format": "mqproof-history/2",
        "name": f"{messages} messages",
        "story": "every message is confirmed and delivered once",
        "explanation": "nothing is lost",
        "facts": {
            "load_started_ns": S,
            "load_ended_ns": (LOAD_S + 1) * S,
            "deadline_ns": S,
            "paced": True,
            "confirms": True,
            "workers": [
                {"number": 1, "role": "publisher", "log_closed": True},
                {"number": 2, "role": "consumer", "log_closed": True},
            ],
            "windows": [
                {
                    "number": 1,
                    "kind": "kill",
                    "origin_ns": 20 * S,
                    "returned_ns": 20 * S,
                    "ended_ns": 23 * S,
                    "verified": True,
                    "gone": True,
                }
            ],
            "queues": [{"queue": "orders", "ordered": True, "drained": True}],
        },
        "declared": {"confirms": True, "durable": True},
        "recorded": {"1": {"fault_target_role": "master"}},
        "tables": {
            "attempts": table(
                messages, queue="orders", key=0, intended_ns=due, sent_ns=due, connection=1, **same
            ),
            "settlements": table(
                messages,
                settled_ns=[at + 1_000_000 for at in due],
                outcome="confirmed",
                strength="replicated",
                **same,
            ),
            "deliveries": table(
                messages,
                consumer=2,
                received_ns=[at + 2_000_000 for at in due],
                queue="orders",
                redelivered="no",
                header_ok=1,
                payload_ok=1,
                run_ok=1,
                via="load",
                connection=1,
                tag=[*range(1, messages + 1)],
                **same,
            ),
        },
    }


def table(rows: int, **columns: Any) -> dict[str, Any]:
    return {"rows": rows, "columns": columns}


if __name__ == "__main__":
    main()
