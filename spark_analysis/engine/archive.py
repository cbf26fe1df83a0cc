"""An archive of loaded Java classes that speeds up the next start of Spark (class data sharing).

1. When the first JVM of a Java and a PySpark ends, it writes the classes that it loaded. This
   takes some ten seconds, once. Each later start maps the file and takes half as long.
2. A JVM compares the file with its own classes and ignores one that does not fit. It verifies the
   checksum, too, and ignores a damaged file. It does not check the length, and crashes if a part
   is missing. So the file's name states its length. A file of another length is removed, and so is
   one with which a JVM did not start.
3. Java writes such an archive on top of one of its own classes, which PyPI's Java lacks. Then one
   is made first (the base), which takes a second, once. An archive fits its own base only.
4. Without a folder for the archive Spark starts as usual, and so it does if no base can be made.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark

from spark_analysis.engine.cache import cache

_OCTETS = 1 << 30  # free before one is made, which has some 160 MB
_KEPT = 3  # a checkout's environment has one of its own
_SUFFIX, _PART, _BASE = ".jsa", ".part", ".base"
_BASE_LIMIT_S = 60
_STALE_S = 3_600.0  # after this no live process is still writing it
_SILENT = "-Xlog:disable -Xlog:all=error,cds*=off:stderr"
_SUMMED_UP = "-XX:+IgnoreUnrecognizedVMOptions -XX:+VerifySharedSpaces"


@dataclass(frozen=True, slots=True)
class Archive:
    """`kept`: the whole one, where it is; `part`: where this process would write it; `base`: the
    one below it, where Java has none of its own."""

    name: str
    kept: Path | None
    part: Path
    base: Path | None = None

    @property
    def is_there(self) -> bool:
        return self.kept is not None

    @property
    def options(self) -> str:
        """Return the JVM options, in the form that Spark parses."""
        if self.kept is not None:
            both = [path for path in (self.base, self.kept) if path is not None]
            with contextlib.suppress(OSError):
                for path in both:
                    os.utime(path)  # it is in use
            files = ":".join(map(str, both))
            return f'"-XX:SharedArchiveFile={files}" -Xshare:auto {_SUMMED_UP} {_SILENT}'
        below = f'"-XX:SharedArchiveFile={self.base}" ' if self.base is not None else ""
        return f'{below}"-XX:ArchiveClassesAtExit={self.part}" {_SILENT}'

    def keep(self) -> None:
        """Keep the archive after the JVM that wrote it has ended normally."""
        folder = self.part.parent
        with contextlib.suppress(OSError):
            self.part.replace(folder / f"{self.name}-{self.part.stat().st_size}{_SUFFIX}")
            for suffix in (_SUFFIX, _BASE):
                for old in sorted(folder.glob(f"*{suffix}"), key=_age_s)[_KEPT:]:
                    old.unlink()

    def drop(self) -> None:
        """Remove an incomplete or unusable archive."""
        with contextlib.suppress(OSError):
            (self.kept or self.part).unlink(missing_ok=True)
        if self.kept is not None and self.base is not None:
            with contextlib.suppress(OSError):
                self.base.unlink(missing_ok=True)


def archive(environment: Mapping[str, str], java_home: Path) -> Archive | None:
    """Return the archive, or None if no folder can hold it. Remove incomplete archives of
    others."""
    folder = cache(environment, "spark")
    if folder is None or set('":') & set(str(folder)):  # it separates files
        return None
    name = _name(java_home)
    _remove_stale(folder)
    part = folder / f"{name}-{os.getpid()}{_PART}"
    try:
        kept, base = _whole(folder, name, _SUFFIX), None
        if kept is None and shutil.disk_usage(folder).free <= _OCTETS:
            return None
        if _lacks_base(java_home) and not (base := _whole(folder, name, _BASE)):
            base = _made_base(folder, name, java_home)
            if kept is not None:
                kept.unlink()
                kept = None
    except (OSError, subprocess.SubprocessError):
        return None
    return Archive(name, kept, part, base)


def _remove_stale(folder: Path) -> None:
    for part in folder.glob(f"*{_PART}"):
        with contextlib.suppress(OSError):  # its process may rename it at this moment
            if _age_s(part) > _STALE_S:
                part.unlink()


def _lacks_base(java_home: Path) -> bool:
    """Return whether this Java came without an archive of its own classes."""
    server = java_home / "lib" / "server"
    return (server / "libjvm.so").exists() and not (server / "classes.jsa").exists()


def _made_base(folder: Path, name: str, java_home: Path) -> Path:
    """Make the archive of Java's own classes. Two processes that make it write the same bytes.

    Raises OSError and subprocess.SubprocessError.
    """
    part = folder / f"{name}-base-{os.getpid()}{_PART}"
    words = ["-Xshare:dump", f"-XX:SharedArchiveFile={part}", *_SILENT.split()]
    java = [str(java_home / "bin" / "java"), *words]
    try:
        subprocess.run(java, check=True, capture_output=True, timeout=_BASE_LIMIT_S)
        return part.replace(folder / f"{name}-{part.stat().st_size}{_BASE}")
    finally:
        part.unlink(missing_ok=True)


def _name(java_home: Path) -> str:
    """Return a name for this Java and this PySpark. It changes if either is reinstalled, because
    no JVM accepts the old archive then."""
    spark, parts = Path(pyspark.__file__).parent.resolve(), [str(java_home.resolve())]
    with contextlib.suppress(OSError):
        parts.append((java_home / "release").read_text())
    parts += [str(spark), pyspark.__version__, str((spark / "jars").stat().st_mtime_ns)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _whole(folder: Path, name: str, suffix: str) -> Path | None:
    for path in sorted(folder.glob(f"{name}-*{suffix}")):
        with contextlib.suppress(OSError):
            if path.stem == f"{name}-{path.stat().st_size}":
                return path
            path.unlink()
    return None


def _age_s(path: Path) -> float:
    return time.time() - path.stat().st_mtime  # noqa: TID251  (files have the time of the day)
