"""A user's own commands for a host that is not ours: to break it, to undo that, and to check it.

1. A command is a list of words; no shell reads it.
2. `verify` ends with 0 while the fault is in force, and with 1 to 125 while it is not. From 126 on
   the command itself failed (a shell, ssh (255) or a signal): that is no answer. Without a
   `verify`, it is unknown whether the fault held.
3. `undo` may run again: it must be harmless if there is nothing to undo.
"""

from collections.abc import Mapping
from dataclasses import dataclass

DO, UNDO, VERIFY = "do", "undo", "verify"
STEPS = (DO, UNDO, VERIFY)
NO_ANSWER = 126  # of a verify command: this status, and those above


@dataclass(frozen=True, slots=True)
class HostCommand:
    """One kind of fault of one host."""

    do: tuple[str, ...]
    undo: tuple[str, ...]
    verify: tuple[str, ...] = ()  # empty: there is none
    deadline_s: float = 30.0  # of each of them

    def words(self, step: str) -> tuple[str, ...]:
        return {DO: self.do, UNDO: self.undo, VERIFY: self.verify}[step]


HostCommands = Mapping[tuple[str, str], HostCommand]  # (host, kind) -> its command
