"""PURE: how a system's brokers are brought into alarm and out of it, as commands in their
containers."""

from collections.abc import Mapping
from dataclasses import dataclass

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmCommands:
    """The alarm commands of a system; no field has a default. Each runs beside the one process of
    a host, in its container, and reports failure by its status.

    `raised`, `cleared`: by resource, a word of options.py; the system has no alarm for a missing
    one. Clearing may be repeated. A restarted process has no alarm. `all_cleared`: for healing
    without knowing whose container it is; in another system's container it does nothing. It prints
    what was cleared; NOTHING, or nothing at all, if there was no alarm.
    """

    raised: Mapping[str, Command]
    cleared: Mapping[str, Command]
    all_cleared: Command


NOTHING = "[]"
