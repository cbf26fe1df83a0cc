"""Hadoop's own shell, from Spark's jars: it reads whatever store Spark can read.

1. It is a process of its own: where Python works for Spark there is no JVM at hand.
2. What Spark was told of stores (`spark.hadoop.*`) stands in a file that only this user can read:
   there may be passwords in it.
3. The shell takes sources for patterns; here a source is a name.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import pyspark
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from spark_analysis.engine.failing import causes
from spark_analysis.engine.java import java_home

_SHELL = "org.apache.hadoop.fs.FsShell"
# It copies, and compiles little on the way.
_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_OF_STORES, _JARS = "spark.hadoop.", "spark.jars"
_CONFIGURATION = "mqproof.xml"
_REQUIRED = "core-site.xml"  # it does not start without one; the user's own comes before ours
_PATTERN = re.compile(r"[\\*?\[\]{}]")
_SAID = re.compile(r"^-?(?:ls|get): (?!Fatal internal error)(.+)$", re.MULTILINE)
_SAID_MAX = 300


class HadoopFailed(Exception):
    """What it said."""


@dataclass(frozen=True, slots=True)
class Hadoop:
    """What it is told wherever it runs. `jars`: of stores that Spark's own cannot read."""

    settings: tuple[tuple[str, str], ...]
    jars: tuple[str, ...]

    @classmethod
    def of(cls, spark: SparkSession) -> "Hadoop":
        told = dict(spark.sparkContext.getConf().getAll())
        settings = [
            (key.removeprefix(_OF_STORES), value)
            for key, value in told.items()
            if key.startswith(_OF_STORES)
        ]
        jars = [jar.removeprefix("file:") for jar in told.get(_JARS, "").split(",") if jar]
        return cls(tuple(settings), tuple(jars))

    def run(self, *words: str) -> str:
        """What it prints. Raises HadoopFailed, OSError, SparkFailed where there is no Java."""
        java = java_home(os.environ) / "bin" / "java"
        with tempfile.TemporaryDirectory(prefix="mqproof-hadoop-") as place:
            told = Path(place) / _CONFIGURATION
            told.write_text(_document(self.settings))
            (Path(place) / _REQUIRED).write_text(_document(()))
            path = os.pathsep.join([*_class_path(self.jars), place])
            command = [str(java), *_OPTIONS, "-cp", path, _SHELL, "-conf", str(told), *words]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL
            )
        if done.returncode:
            raise HadoopFailed(_sentence(done.stderr))
        return done.stdout


def named(source: str) -> str:
    """A source that means itself."""
    return _PATTERN.sub(lambda found: f"\\{found[0]}", source)


def _class_path(jars: tuple[str, ...]) -> Iterator[str]:
    """Configuration first: folders of the user's own, as Spark takes them."""
    if folder := os.environ.get("HADOOP_CONF_DIR"):
        yield folder
    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    yield f"{home}/jars/*"
    yield from jars
    yield f"{SparkFiles.getRootDirectory()}/*"  # Spark has brought them to its executors


def _document(settings: tuple[tuple[str, str], ...]) -> str:
    properties = [
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>"
        for key, value in settings
    ]
    return "\n".join(["<configuration>", *properties, "</configuration>"])


def _sentence(said: str) -> str:
    """Why it failed: its own words, where it found any, or the last line of Java's."""
    told = _SAID.findall(said)
    lines = said.strip().splitlines() or ["it said nothing"]
    return str((told or causes(said)[-1:] or lines[-1:])[0])[:_SAID_MAX]
