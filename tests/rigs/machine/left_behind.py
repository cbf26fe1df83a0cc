"""What runs in a folder left running, as /proc shows it: guardians, standbys and Java."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def guardians(folder: Path) -> list[int]:
    """Those of experiments in or below a folder, as `ps` shows them."""
    return _named("guardian", folder)


def standbys(folder: Path) -> list[int]:
    """The processes that take a guardian's place, of experiments in or below a folder."""
    return _named("harness.cleanup.standby", folder)


def _named(name: str, folder: Path) -> list[int]:
    """A child bears its parent's words between fork and exec, and is left out."""
    found: dict[int, int] = {}  # process -> its parent
    for entry in _processes():
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            paths = [word for word in words if word and Path(word).is_relative_to(folder)]
            others = [word for word in words if word not in paths]  # a folder may have any name
            is_one = paths and any(name in word for word in others)
            if is_one:
                found[int(entry.name)] = _parent(entry)
    return [process for process, parent in found.items() if parent not in found]


def _parent(entry: Path) -> int:
    return int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def java(folder: Path) -> list[int]:
    """Those that were started in a folder."""
    found = []
    for entry in _processes():
        with suppress(OSError):
            is_java = (entry / "exe").readlink().name == "java"
            found += [int(entry.name)] if is_java and (entry / "cwd").readlink() == folder else []
    return found


def _processes() -> Iterator[Path]:
    return Path("/proc").glob("[0-9]*")
