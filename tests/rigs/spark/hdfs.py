"""Hadoop's own file system: a name node and a data node, on loopback alone.

1. Their classes come from Maven Central, in the version of the client that Spark brings.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from spark_analysis.engine.java import java_home
from spark_analysis.engine.jvm import Jvm, jvm_options
from tests.rigs.machine.ports import free_port
from tests.rigs.spark.standalone import JARS, LOOPBACK, READY_S, Server, server

_FETCH_LIMIT_S = 600
_ARTIFACT = "hadoop-client-minicluster"
_CLIENT = re.compile(r"hadoop-client-api-([\d.]+)\.jar")
_NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
_SHELL = "org.apache.hadoop.fs.FsShell"


def servers_jar(folder: Path) -> Path:
    """Skips where Maven is not there."""
    if shutil.which("mvn") is None:
        pytest.skip("Maven is not here: apt-get install maven")
    names = (path.name for path in (Path(pyspark.__file__).parent / "jars").iterdir())
    (version,) = (found[1] for found in map(_CLIENT.fullmatch, names) if found)
    coordinates = f"org.apache.hadoop:{_ARTIFACT}:{version}"
    goal = ["dependency:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"]
    subprocess.run(["mvn", "-q", "-B", *goal], check=True, timeout=_FETCH_LIMIT_S, cwd=folder)
    return folder / f"{_ARTIFACT}-{version}.jar"


@contextmanager
def hdfs(folder: Path) -> Iterator["Hdfs"]:
    """Empty, and gone at the end."""
    folder.mkdir(parents=True)
    url = f"hdfs://{LOOPBACK}:{free_port()}"
    words = ["-cp", f"{_configured(folder, url)}:{servers_jar(folder)}:{JARS}"]
    subprocess.run(
        [*_java(Jvm.SERVER), *words, _NAME_NODE, "-format", "-nonInteractive"],
        check=True,
        capture_output=True,
    )
    started: list[Server] = []
    try:
        for number, name in enumerate((_NAME_NODE, _DATA_NODE)):
            started.append(server(folder / str(number), [*words, name], {}))
        found = Hdfs(url, words)
        found.wait()
        yield found
    finally:
        for one in started:
            one.kill()


class Hdfs:
    def __init__(self, url: str, words: list[str]) -> None:
        self.url = url
        self._words = words

    def put(self, folder: Path, where: str) -> str:
        """The URL of a copy of it."""
        self._shell("-mkdir", "-p", where)
        self._shell("-put", folder.as_uri(), where)
        return f"{self.url}{where}/{folder.name}"

    def wait(self) -> None:
        """Until a file can be written, which takes a data node."""
        ends = time.monotonic() + READY_S
        while True:
            try:
                self._shell("-put", "-f", Path("/etc/hostname").as_uri(), "/ready")
                return
            except AssertionError:
                if time.monotonic() > ends:
                    raise

    def _shell(self, *words: str) -> None:
        command = [*_java(Jvm.SHELL), *self._words, _SHELL, "-fs", self.url, *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"


def _java(which: Jvm) -> list[str]:
    return [str(java_home(os.environ) / "bin" / "java"), *jvm_options(which)]


def _configured(folder: Path, url: str) -> Path:
    """The folder of its configuration."""
    anywhere = f"{LOOPBACK}:0"
    settings = {
        "fs.defaultFS": url,
        "dfs.replication": "1",
        "dfs.namenode.name.dir": str(folder / "names"),
        "dfs.datanode.data.dir": str(folder / "data"),
        "dfs.namenode.http-address": anywhere,
        "dfs.datanode.address": anywhere,
        "dfs.datanode.http.address": anywhere,
        "dfs.datanode.ipc.address": anywhere,
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }
    properties = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>"
        for key, value in settings.items()
    )
    place = folder / "conf"
    place.mkdir()
    for name in ("core-site.xml", "hdfs-site.xml"):
        (place / name).write_text(f"<configuration>{properties}</configuration>")
    return place
