"""The armed faults, in a form that survives the process that armed them.

1. One JSON object a line, appended and synced before the call returns: `armed` before the action
   is issued, `undone` after its undo returned.
2. A line is whole or it does not count. The last one may be torn (kill -9, a full disk, power):
   a torn `armed` was never acted on, a torn `undone` is undone again, which is no error.
3. Opening cuts a torn line off, so that what is appended stands on a line of its own.
4. One writer at a time: the run; after its death the guardian, or heal.
5. A host that an operation stops stands here like a fault, under the operation's number and kind:
   `heal` starts it again.
6. A disk that refuses a line leaves none: an `armed` raises, so nothing is done; an `undone` is
   remembered (`doubt`), for undoing comes first.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from faults.core.actions import Action
from faults.core.model import Armed
from faults.core.places import split
from faults.kinds import KINDS
from harness.run_folder.fault_options import options_from_json, options_to_json
from spark_analysis.files.failed import os_reason
from spark_analysis.files.regular import content_of
from spark_analysis.files.writing import naming
from spark_analysis.schema.declared import parsed

# --- Recorded ------------------------------------------------------------------------------------
# Actions as JSON, for the journal: another process reads them again, and undoes what was done.


def action_to_json(action: Action) -> dict[str, Any]:
    assert is_dataclass(action), action
    return {"action": type(action).__name__, **asdict(action)}


def action_from_json(document: dict[str, Any]) -> Action:
    """Raises KeyError or TypeError on what is an action of no kind that is known here."""
    parts = {key: _frozen(value) for key, value in document.items() if key != "action"}
    known = {action.__name__: action for kind in KINDS.values() for action in kind.actions}
    return known[document["action"]](**parts)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


# --- The journal ---------------------------------------------------------------------------------


JOURNAL = "journal.jsonl"  # in the folder of a run
ARMED, UNDONE = "armed", "undone"
BYTES_MAX = 1 << 28


class JournalError(Exception):
    """The journal holds what no journal of ours holds."""


@dataclass(frozen=True, slots=True)
class Entry:
    event: str  # armed or undone
    armed: Armed
    by: str  # who wrote it: run, guardian, heal


class Journal:
    """A journal open for appending; made where there is none."""

    def __init__(self, path: Path, by: str = "run") -> None:
        self._by = by
        self._path = path
        self.doubt = ""  # why a line could not be written
        _cut_torn_line(path)
        made = not path.exists()
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if made:
            _sync_folder(path.parent)

    def armed(self, armed: Armed) -> None:
        """Call it before the action is issued. Raises OSError: then it is not to be."""
        self._append(ARMED, armed)

    def undone(self, armed: Armed) -> None:
        """Call it after the undo returned."""
        with contextlib.suppress(OSError):
            self._append(UNDONE, armed)

    def close(self) -> None:
        os.close(self._descriptor)

    def _append(self, event: str, armed: Armed) -> None:
        line = {"event": event, "by": self._by, "armed": armed_to_json(armed)}
        content = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        whole_bytes = os.fstat(self._descriptor).st_size
        try:
            with naming(self._path):
                while content:
                    content = content[os.write(self._descriptor, content) :]
                os.fsync(self._descriptor)
        except OSError as refused:
            os.ftruncate(self._descriptor, whole_bytes)  # the next line is to stand on its own
            self.doubt = self.doubt or os_reason(refused, self._path)
            raise


def read(path: Path) -> tuple[Entry, ...]:
    """Every whole line. Raises JournalError where one in the middle is none of ours."""
    *whole, torn = content_of(path, BYTES_MAX).split(b"\n")
    del torn  # empty, where the last line is whole
    return tuple(_entry(path, number, line) for number, line in enumerate(whole, 1))


def standing(entries: tuple[Entry, ...]) -> tuple[Armed, ...]:
    """The faults that are armed and not undone, in the order in which they were armed."""
    open_: dict[tuple[int, str, str], Armed] = {}
    for entry in entries:
        key = (entry.armed.window, entry.armed.kind, entry.armed.resolved)
        if entry.event == ARMED:
            open_[key] = entry.armed
        else:
            open_.pop(key, None)
    return tuple(open_.values())


def armed_to_json(armed: Armed) -> dict[str, Any]:
    return {
        "window": armed.window,
        "kind": armed.kind,
        "target": armed.target,
        "resolved": armed.resolved,
        "role": armed.role,
        "mechanism": armed.mechanism,
        "actions": [action_to_json(action) for action in armed.actions],
        "undo": [action_to_json(action) for action in armed.undo],
        "mark": armed.mark,
        "hosts": list(armed.hosts),
        "proxies": list(armed.proxies),
        "options": options_to_json(armed.options),
        "clients": list(armed.clients),
    }


def armed_from_json(document: dict[str, Any]) -> Armed:
    """Raises KeyError or TypeError on what is not a fault of ours."""
    parts = dict(document)
    for key in ("actions", "undo"):
        parts[key] = tuple(action_from_json(action) for action in parts[key])
    for key in ("hosts", "proxies", "clients"):
        parts[key] = tuple(parts[key])
    if not isinstance(parts["window"], int):
        raise TypeError(f"window is a number, not {parts['window']!r}")
    resolved = parts.pop("resolved")
    if not isinstance(resolved, str):
        raise TypeError(f"resolved is a text, not {resolved!r}")
    parts["places"] = split(resolved)
    parts["options"] = options_from_json(parts["kind"], parts["options"])
    return Armed(**parts)


def _entry(path: Path, number: int, line: bytes) -> Entry:
    try:
        document = parsed(line)
        if document["event"] not in (ARMED, UNDONE):
            raise KeyError(document["event"])
        return Entry(document["event"], armed_from_json(document["armed"]), document["by"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalError(f"{path}, line {number}: {error!r}") from error


def _cut_torn_line(path: Path) -> None:
    try:
        content = content_of(path, BYTES_MAX)
    except FileNotFoundError:
        return
    if content and not content.endswith(b"\n"):
        os.truncate(path, content.rfind(b"\n") + 1)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
