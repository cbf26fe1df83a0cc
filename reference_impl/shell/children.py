"""Servers as children of one program that people play with.

1. Each is a process in a session of its own: Ctrl-C goes to the parent, which stops them in turn.
   It ends when the parent does, by a pipe that only the parent holds.
2. A child that ends is reported, and not started again: that is the purpose of playing.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence

STOP_LIMIT_S = 12.0


class Children:
    """By name, in the order in which they were started."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, words: Sequence[str]) -> None:
        """`words`: after `python -m reference_impl`."""
        self._processes[name] = subprocess.Popen(
            [sys.executable, "-m", "reference_impl", *words, "--with-parent"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def ready(self, name: str) -> int | None:
        """Waits for its word that it can be dialled: its process; None where it did not start."""
        process = self._processes[name]
        assert process.stdout is not None, "it was started with a pipe"
        line = process.stdout.readline()
        return process.pid if line and json.loads(line)["ready"] else None

    def wait(self) -> int:
        """Until the last one has ended; the worst status."""
        worst, left = 0, dict(self._processes)
        while left:
            for name, process in list(left.items()):
                try:
                    status = process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    continue
                print(f"{name} ended with {status}", flush=True)
                worst = max(worst, abs(status))
                del left[name]
        return worst

    def stop(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            try:
                process.wait(timeout=STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
