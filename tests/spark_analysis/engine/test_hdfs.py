"""Experiments brought from Hadoop's own file system, by its own servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.store import bring
from tests.rigs.spark.hdfs import Hdfs, hdfs
from tests.spark_analysis.engine.test_store import NAMES, RUNS, TELLING, experiment, files

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with hdfs(tmp_path_factory.mktemp("hadoop") / "hdfs") as found:
        yield found


def test_an_experiment_comes_from_hdfs_byte_for_byte(
    spark: SparkSession, store: Hdfs, tmp_path: Path
) -> None:
    # HDFS takes no colon, and its shell no pattern in what is put.
    source = experiment(tmp_path / "e", tuple(name for name in NAMES if name.isascii()))
    url = store.put(source, "/nights")
    bring(spark, url, tmp_path / "brought", TELLING, RUNS)
    expected = files(source)
    del expected["marts/old.parquet"]
    assert files(tmp_path / "brought") == expected
