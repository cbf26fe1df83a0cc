"""Words that say where Spark runs, and with what."""

import pytest

from harness.commands.spark import place
from spark_analysis.schema.place import size


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("spark.mqproof.memory=lots", "spark.mqproof.memory = 'lots' is no size"),
        ("spark.mqproof.memory=3", "spark.mqproof.memory = '3' is no size"),
        ("spark.mqproof.memory=0g", "spark.mqproof.memory = '0g' is no size"),
        ("memory=3g", "'memory=3g' is no setting: spark.KEY=VALUE"),
    ],
)
def test_a_setting_that_says_nothing_is_refused(word: str, message: str) -> None:
    _, (problem,) = place("", [word])
    assert message in str(problem)


def test_a_setting_that_says_something_is_handed_on() -> None:
    found, problems = place("", ["spark.mqproof.memory=12g", "spark.cores.max=2"])
    assert not problems
    assert found.words == ["--conf", "spark.mqproof.memory=12g", "--conf", "spark.cores.max=2"]


@pytest.mark.parametrize(
    ("word", "octets"), [("1k", 1 << 10), ("900m", 900 << 20), ("3G", 3 << 30), ("2tb", 2 << 40)]
)
def test_a_size_is_what_spark_means_by_it(word: str, octets: int) -> None:
    assert size(word) == octets
