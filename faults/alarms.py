"""PURE: how a system's brokers are brought into alarm and out of it, as commands in their
containers."""

from collections.abc import Mapping
from dataclasses import dataclass

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmCommands:
    """A system's; nothing has a default. Each is run beside the one process of a host, in its
    container, and fails by its status.

    `raised`, `cleared`: by resource, a word of options.py; of one that is missing the system has
    no alarm. What is cleared may be cleared again. A process that is started anew has no alarm.
    `all_cleared`: for whoever heals without knowing whose container it is: in another system's it
    does nothing. It prints what was cleared; NOTHING, or nothing at all, where there was none.
    """

    raised: Mapping[str, Command]
    cleared: Mapping[str, Command]
    all_cleared: Command


NOTHING = "[]"
