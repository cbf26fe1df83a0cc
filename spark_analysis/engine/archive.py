"""An archive of loaded Java classes that speeds up the next start of Spark (class data sharing).

1. When the first JVM of a Java and a PySpark ends, it writes the classes that it loaded. This
   takes some ten seconds, once. Each later start maps the file and takes half as long.
2. A JVM compares the file with its own classes and ignores one that does not fit. It verifies the
   checksum, too, and ignores a damaged file. It does not check the length, and crashes if a part
   is missing. So the file's name states its length. A file of another length is removed, and so is
   one with which a JVM did not start.
3. Without a folder for the archive Spark starts as usual.
"""

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark

from spark_analysis.engine.cache import cache

_OCTETS = 1 << 30  # free before one is made, which has some 160 MB
_KEPT = 3  # a checkout's environment has one of its own
_SUFFIX, _PART = ".jsa", ".part"
_STALE_S = 3_600.0  # after this no live process is still writing it
_SILENT = "-Xlog:disable -Xlog:all=error:stderr"
_SUMMED_UP = "-XX:+IgnoreUnrecognizedVMOptions -XX:+VerifySharedSpaces"


@dataclass(frozen=True, slots=True)
class Archive:
    """`kept`: the whole one, where it is; `part`: where this process would write it."""

    name: str
    kept: Path | None
    part: Path

    @property
    def is_there(self) -> bool:
        return self.kept is not None

    @property
    def options(self) -> str:
        """Return the JVM options, in the form that Spark parses."""
        if self.kept is not None:
            with contextlib.suppress(OSError):
                os.utime(self.kept)  # it is in use
            return f'"-XX:SharedArchiveFile={self.kept}" -Xshare:auto {_SUMMED_UP} {_SILENT}'
        return f'"-XX:ArchiveClassesAtExit={self.part}" {_SILENT}'

    def keep(self) -> None:
        """Keep the archive after the JVM that wrote it has ended normally."""
        folder = self.part.parent
        with contextlib.suppress(OSError):
            self.part.replace(folder / f"{self.name}-{self.part.stat().st_size}{_SUFFIX}")
            for old in sorted(folder.glob(f"*{_SUFFIX}"), key=_age_s)[_KEPT:]:
                old.unlink()

    def drop(self) -> None:
        """Remove an incomplete or unusable archive."""
        with contextlib.suppress(OSError):
            (self.kept or self.part).unlink(missing_ok=True)


def archive(environment: Mapping[str, str], java_home: Path) -> Archive | None:
    """Return the archive, or None if no folder can hold it. Remove incomplete archives of
    others."""
    folder = cache(environment, "spark")
    if folder is None or '"' in str(folder):
        return None
    name = _name(java_home)
    part = folder / f"{name}-{os.getpid()}{_PART}"
    found = Archive(name, _whole(folder, name), part)
    if found.is_there:
        return found
    with contextlib.suppress(OSError):
        for part in folder.glob(f"*{_PART}"):
            if _age_s(part) > _STALE_S:
                part.unlink()
        if shutil.disk_usage(folder).free > _OCTETS:
            return found
    return None


def _name(java_home: Path) -> str:
    """Return a name for this Java and this PySpark. It changes if either is reinstalled, because
    no JVM accepts the old archive then."""
    spark, parts = Path(pyspark.__file__).parent.resolve(), [str(java_home.resolve())]
    with contextlib.suppress(OSError):
        parts.append((java_home / "release").read_text())
    parts += [str(spark), pyspark.__version__, str((spark / "jars").stat().st_mtime_ns)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _whole(folder: Path, name: str) -> Path | None:
    for path in sorted(folder.glob(f"{name}-*{_SUFFIX}")):
        with contextlib.suppress(OSError):
            if path.stem == f"{name}-{path.stat().st_size}":
                return path
            path.unlink()
    return None


def _age_s(path: Path) -> float:
    return time.time() - path.stat().st_mtime  # noqa: TID251  (files have the time of the day)
