"""Experiments brought from a store, here this machine's own file system, by its URL."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.hadoop import Hadoop, named
from spark_analysis.engine.store import Unbrought, bring

pytestmark = [pytest.mark.slow, pytest.mark.engine]

TELLING, RUNS = "experiment.json", "runs"
# The shell takes some of them for patterns, and some would have to be written otherwise in a URL.
NAMES = ("plain", "with blank", "a*b", "[ab]", "{a,b}", "a?b", "100%25", "ä", "a+b@c=1")


def experiment(folder: Path, names: tuple[str, ...] = NAMES) -> Path:
    for name in names:
        run = folder / RUNS / name
        (run / "raw").mkdir(parents=True)
        (run / "manifest.json").write_text(name)
        (run / "raw" / "attempts.parquet").write_bytes(name.encode() * 1000)
    (folder / "marts").mkdir()
    (folder / "marts" / "old.parquet").write_text("made of the runs")
    (folder / TELLING).write_text("{}")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def url(folder: Path) -> str:
    """As a person writes it, and Hadoop reads it: nothing is encoded."""
    return f"file://{folder}"


def test_all_runs_of_an_experiment_are_copied_byte_for_byte(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = experiment(tmp_path / "a store" / "e")
    into = tmp_path / "to a place" / "e"
    bring(spark, url(source), into, TELLING, RUNS)
    expected = files(source)
    del expected["marts/old.parquet"]
    assert files(into) == expected
    assert [path.name for path in into.parent.iterdir()] == ["e"]


def test_a_missing_experiment_is_named_and_leaves_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(Unbrought, match=r"nowhere cannot be brought: .*No such file or directory"):
        bring(spark, url(tmp_path / "nowhere"), tmp_path / "results" / "e", TELLING, RUNS)
    assert [*(tmp_path / "results").iterdir()] == []


def test_a_store_that_nothing_here_reads_is_reported_as_that(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(Unbrought, match=r'No FileSystem for scheme "moon"'):
        bring(spark, "moon://sea/e", tmp_path / "e", TELLING, RUNS)


def test_an_unreadable_run_fails_the_copy_and_leaves_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = experiment(tmp_path / "e", ("one", "two"))
    torn = source / RUNS / "two" / "raw" / "attempts.parquet"
    # Hadoop keeps checksums beside files: this one tells of another content.
    (torn.parent / f".{torn.name}.crc").write_bytes(
        b"crc\x00" + b"\x00\x00\x02\x00" + b"\x01" * 64
    )
    with pytest.raises(Unbrought, match=r"e cannot be brought: .*[Cc]hecksum"):
        bring(spark, url(source), tmp_path / "into", TELLING, RUNS)
    assert not (tmp_path / "into").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e"]


def test_the_store_shell_gets_exactly_sparks_store_settings(
    spark: SparkSession,
) -> None:
    settings = Hadoop.of(spark)
    assert dict(settings.settings)["mqproof.test"] == "<&>"
    assert not [key for key, _ in settings.settings if key.startswith("spark.")]
    assert named("a*[b]") == r"a\*\[b\]"
