"""Java's classes as they were loaded, kept for the next start of Spark (class data sharing).

1. What the first session of a Java and a PySpark loaded is written down when its JVM ends, which
   takes some ten seconds, once; each later start maps the file and takes half as long.
2. A JVM holds the file against the classes that it has, and passes over one that does not fit. It
   is told to sum it up, too, and passes over one that was spoilt. It does not look whether all of
   it is there, and ends where something lacks: so the name says how long it is, and one that is
   not is removed; and so is one with which a JVM did not come up.
3. Where there is no place for it Spark starts as it would anyway.
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
_STALE_S = 3_600.0  # since nobody who is alive is at it
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
        """For the JVM, as Spark takes them apart."""
        if self.kept is not None:
            with contextlib.suppress(OSError):
                os.utime(self.kept)  # it is in use
            return f'"-XX:SharedArchiveFile={self.kept}" -Xshare:auto {_SUMMED_UP} {_SILENT}'
        return f'"-XX:ArchiveClassesAtExit={self.part}" {_SILENT}'

    def keep(self) -> None:
        """Once the JVM that wrote it has ended in good order."""
        folder = self.part.parent
        with contextlib.suppress(OSError):
            self.part.replace(folder / f"{self.name}-{self.part.stat().st_size}{_SUFFIX}")
            for old in sorted(folder.glob(f"*{_SUFFIX}"), key=_age_s)[_KEPT:]:
                old.unlink()

    def drop(self) -> None:
        """What was written is not whole, or what was kept is no good."""
        with contextlib.suppress(OSError):
            (self.kept or self.part).unlink(missing_ok=True)


def archive(environment: Mapping[str, str], java_home: Path) -> Archive | None:
    """None where there is no place for one. Those of others that were broken off are removed."""
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
    """Of this Java and this PySpark: another one after either was installed anew, for then no JVM
    takes what was kept."""
    spark, told = Path(pyspark.__file__).parent.resolve(), [str(java_home.resolve())]
    with contextlib.suppress(OSError):
        told.append((java_home / "release").read_text())
    told += [str(spark), pyspark.__version__, str((spark / "jars").stat().st_mtime_ns)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _whole(folder: Path, name: str) -> Path | None:
    for path in sorted(folder.glob(f"{name}-*{_SUFFIX}")):
        with contextlib.suppress(OSError):
            if path.stem == f"{name}-{path.stat().st_size}":
                return path
            path.unlink()
    return None


def _age_s(path: Path) -> float:
    return time.time() - path.stat().st_mtime  # noqa: TID251  (files have the time of the day)
