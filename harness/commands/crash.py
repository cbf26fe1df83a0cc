"""Where the traceback of a fault of ours goes: a file, whole or not there at all."""

import contextlib
import tempfile
from pathlib import Path

from harness.commands.shell import stamp


def keep(text: str, folder: Path) -> Path | None:
    """The file in `folder`, or where that cannot be written in the machine's place for such; None
    where neither takes it."""
    with contextlib.suppress(OSError):
        return _kept(text, folder)
    with contextlib.suppress(OSError):  # or if the machine has no such place
        return _kept(text, Path(tempfile.gettempdir()))
    return None


def _kept(text: str, place: Path) -> Path:
    """Raises OSError."""
    path = place / f"crash-{stamp()}.txt"
    place.mkdir(parents=True, exist_ok=True)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)  # on a full disk there would be an empty one
        raise
    return path
