"""claims.toml in an experiment's folder: a copy of the claims file that `--claims` named.

1. Judging again reads the copy, so a later change of the user's file changes no verdict.
2. experiment.json has the copy's digest. If the copy is missing or differs, nothing is judged:
   without these claims a gate would pass that should not.
"""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.outside.files import TOML_BYTES_MAX, Unreadable, is_file, text_of
from spark_analysis.files.writing import write_whole

NAME = "claims.toml"
FLAG = "--claims"
_ADVICE = (
    f"put the original back; to judge by other claims, use `mqproof analyse DIR {FLAG} FILE` "
    "with another file"
)


class LostCopy(Exception):
    """A copy that is missing or was changed."""


@dataclass(frozen=True, slots=True)
class ClaimsText:
    """The content of a claims file. `file`: as the user named it."""

    file: str
    text: str

    @property
    def entry(self) -> dict[str, str]:
        """Return what experiment.json keeps of it."""
        return {"file": self.file, "sha256": _digest(self.text)}


def keep(copy: ClaimsText, folder: Path) -> None:
    write_whole(folder / NAME, copy.text)


def kept(folder: Path, entry: Mapping[str, Any] | None) -> ClaimsText | None:
    """Return the copy that `entry` of experiment.json describes. Raise LostCopy, KeyError."""
    if entry is None:
        return None
    path = folder / NAME
    try:
        text = text_of(path, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise LostCopy(f"{path} cannot be read: {reason}; {_ADVICE}") from None
    if _digest(text) != entry["sha256"]:
        raise LostCopy(f"{path} was changed after the experiment was judged; {_ADVICE}")
    return ClaimsText(str(entry["file"]), text)


def with_option(replay: str, folder: Path, copy: ClaimsText | None) -> str:
    """Return a command with the option that names the copy, or the user's file without a copy."""
    if copy is None:
        return replay
    file = folder / NAME if is_file(folder / NAME) else copy.file
    return f"{replay} {shlex.join([FLAG, str(file)])}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
