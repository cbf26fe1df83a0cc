"""Experiments that lie in a store, by URL, brought here before anything of them is judged."""

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.run_folder.experiments import NAME, RUNS
from spark_analysis.engine.session import session, stopped
from spark_analysis.engine.store import bring
from spark_analysis.schema.place import Place


def bring_all(wanted: Mapping[str, Path], where: Place, step: Callable[[str], None]) -> None:
    """Copy each folder and return its new path by URL. Raise Unbrought, SparkFailed."""
    step("start Spark")
    with stopped(session(where)) as spark:
        for url, folder in wanted.items():
            step(f"bring {url}")
            bring(spark, url, folder, NAME, RUNS)
