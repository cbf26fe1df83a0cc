"""Hadoop's own shell, from Spark's jars. It reads every store that Spark can read.

1. It runs as a process of its own, because Spark's Python workers have no JVM.
2. A file that only this user can read holds Spark's store settings (`spark.hadoop.*`), because
   they may contain passwords.
3. The shell treats sources as patterns; here a source is a name.
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
from spark_analysis.engine.jvm import Jvm, jvm_options

_SHELL = "org.apache.hadoop.fs.FsShell"
_OF_STORES, _JARS = "spark.hadoop.", "spark.jars"
_CONFIGURATION = "mqproof.xml"
_REQUIRED = "core-site.xml"  # it does not start without one; the user's own comes before ours
_PATTERN = re.compile(r"[\\*?\[\]{}]")
_SAID = re.compile(r"^-?(?:ls|get): (?!Fatal internal error)(.+)$", re.MULTILINE)
_SAID_MAX = 300


class HadoopFailed(Exception):
    """A failure of the Hadoop shell, with its message."""


@dataclass(frozen=True, slots=True)
class Hadoop:
    """The settings of the Hadoop shell on any machine. `jars`: of stores that Spark's own jars
    cannot read."""

    settings: tuple[tuple[str, str], ...]
    jars: tuple[str, ...]

    @classmethod
    def of(cls, spark: SparkSession) -> "Hadoop":
        settings_of_spark = dict(spark.sparkContext.getConf().getAll())
        settings = [
            (key.removeprefix(_OF_STORES), value)
            for key, value in settings_of_spark.items()
            if key.startswith(_OF_STORES)
        ]
        jars = [
            jar.removeprefix("file:") for jar in settings_of_spark.get(_JARS, "").split(",") if jar
        ]
        return cls(tuple(settings), tuple(jars))

    def run(self, *words: str) -> str:
        """Return the shell's output. Raise HadoopFailed, OSError, or SparkFailed if there is no
        Java."""
        java = java_home(os.environ) / "bin" / "java"
        with tempfile.TemporaryDirectory(prefix="mqproof-hadoop-") as place:
            configuration = Path(place) / _CONFIGURATION
            configuration.write_text(_document(self.settings))
            (Path(place) / _REQUIRED).write_text(_document(()))
            path = os.pathsep.join([*_class_path(self.jars), place])
            command = [
                str(java),
                *jvm_options(Jvm.SHELL),
                "-cp",
                path,
                _SHELL,
                "-conf",
                str(configuration),
                *words,
            ]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL
            )
        if done.returncode:
            raise HadoopFailed(_sentence(done.stderr))
        return done.stdout


def named(source: str) -> str:
    """Return the source as a pattern that matches only itself."""
    return _PATTERN.sub(lambda found: f"\\{found[0]}", source)


def _class_path(jars: tuple[str, ...]) -> Iterator[str]:
    """Yield the class path: configuration folders of the user first, in Spark's order."""
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
    """Return why it failed: the shell's own message, or the last line of Java's."""
    messages = _SAID.findall(said)
    lines = said.strip().splitlines() or ["it said nothing"]
    return str((messages or causes(said)[-1:] or lines[-1:])[0])[:_SAID_MAX]
