"""The items of a nightly suite are what `mqproof run` plays by their words."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.nightly.suite import Suite, read
from harness.plan.model import RunPlan
from harness.plan.problems import PlanError
from tests.harness.test_cli import call, passing
from tests.harness.test_cli_versions import distribution
from tests.rigs.clusters.topologies import text as topology_text

HEAD = """
title = "Every night"
baseline = "good"
hours = 8
busy = 0.1
wait = "20 min"
keep.passed = 30
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suite(tmp_path: Path, text: str) -> Suite:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    return read(path)


def played(words: Sequence[str]) -> RunPlan:
    """The one run that `mqproof run` plays by these words."""
    _, pipeline = call("run", *words, ending=passing)
    ((experiment, _),) = pipeline.started
    (run,) = experiment.runs
    return run


QUORUM = '[[cells]]\nscenarios = ["master-crash"]\nsystems = ["rabbitmq-quorum"]\n'
BUILD = '[[cells]]\nscenarios = ["master-crash"]\nsystems = ["rocketmq-2m2s"]\n'


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (QUORUM + 'versions = ["3.10.8", "4.0.5"]', ("three@T=60", "three@T=60+4.0.5")),
        (QUORUM + 'images = ["rabbitmq=mine:1"]', ("three@T=60+image",)),
        (
            QUORUM + 'images = ["rabbitmq=mine:1"]\nversions = ["4.1.0"]',
            ("three@T=60+4.1.0",),
        ),
        (QUORUM + 'layouts = ["mine.toml"]\nversions = ["4.0.5"]', ("mine@T=60+4.0.5",)),
        (QUORUM + 'layouts = ["mine.toml"]', ("mine@T=60",)),
        (BUILD + 'distribution = "acme"', ("colocated@compressed+distribution",)),
        (
            BUILD + 'versions = ["4.9.7", "5.4.0"]',
            ("colocated@compressed", "colocated@compressed+5.4.0"),
        ),
    ],
)
def test_an_item_is_played_on_the_brokers_of_its_cell(
    text: str, labels: tuple[str, ...], tmp_path: Path
) -> None:
    distribution("5.4.0")
    Path("mine.toml").write_text('like = "three"\nname = "mine"\ntitle = "t"\n')
    items = suite(tmp_path, HEAD + text).items
    assert len(items) == len(labels)
    for item, label in zip(items, labels, strict=True):
        run = played(item.words)
        assert run.cell == item.cell
        assert item.cell[2] == label
        assert run.layout.image == ("mine:1" if "mine:1" in text else "")


def test_images_are_named_only_to_the_systems_that_run_them(tmp_path: Path) -> None:
    both = QUORUM.replace('["rabbitmq-quorum"]', '["rabbitmq-quorum", "rocketmq-2m2s"]')
    items = suite(tmp_path, HEAD + both + 'images = ["rabbitmq=mine:1"]').items
    assert ["--image" in one.words for one in items] == [True, False]
    assert [played(one.words).cell for one in items] == [one.cell for one in items]


def test_a_topology_stands_for_systems_and_layouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REFERENCE_USER", "REFERENCE_PASSWORD"):
        monkeypatch.setenv(name, "guest")
    Path("staging.toml").write_text(topology_text())
    external = '[[cells]]\nscenarios = ["master-freeze"]\ntopology = "staging.toml"\n'
    (item,) = suite(tmp_path, HEAD + external).items
    assert item.cell == ("master-freeze", "reference-mirrored", "staging@T=10", "pika")
    run = played(item.words)
    assert (run.cell, run.deployment) == (item.cell, "external")
    with pytest.raises(PlanError, match="systems: the topology file says it: leave this out"):
        suite(tmp_path, HEAD + external + 'systems = ["reference-mirrored"]')
