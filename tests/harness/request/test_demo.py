"""The demo is a full experiment, judged by what is known."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness.claims import claims
from harness.cli import main
from harness.compare import expectations
from harness.request import demo, run_request
from harness.systems.registry import OURS

ROOT = Path(__file__).parents[3]


def test_demo_crashes_a_layout_that_holds_and_one_that_breaks() -> None:
    _, where = demo.shown()
    runs = demo.experiment_of(7, "x").runs
    cells = [(each.scenario.name, each.layout.label) for each in runs]
    assert cells == [
        (demo.DEATHS, where.keeps),
        (demo.LINK, where.keeps),
        (demo.DEATHS, where.breaks),
    ]
    assert len({each.name for each in runs}) == len({each.seed for each in runs}) == 3


def test_the_demo_s_scenarios_are_played_by_name_and_in_no_list() -> None:
    assert run_request.scenario(demo.DEATHS) == demo.experiment_of(7, "x").runs[0].scenario
    assert not {demo.DEATHS, demo.LINK} & {*run_request.scenario_names()}
    assert main([*shlex.split(demo.repeat(7))[1:], "--dry-run"]) == 0


def test_a_run_of_the_demo_repeated_alone_has_the_same_seed() -> None:
    *_, last = demo.experiment_of(7, "x").runs
    system, where = demo.shown()
    request = run_request.RunRequest(
        scenarios=(demo.DEATHS,), systems=(system,), layouts=(where.breaks,), seed=7
    )
    (alone,) = run_request.planned(request, "20261130-120000-0001", ()).experiment.runs
    assert (alone.seed, alone.cell, alone.schedule) == (last.seed, last.cell, last.schedule)


def test_the_reference_is_shown_beside_a_real_broker() -> None:
    assert [name for name, own in OURS.items() if own.demo] == [demo.shown()[0]]
    assert demo.shown()[1].real in OURS.keys() - {demo.shown()[0]}


def test_no_demo_run_skips_its_drain_or_lasts_long() -> None:
    for each in demo.experiment_of(7, "x").runs:
        assert each.schedule.drain_limit_s > 0
        assert each.schedule.load_s + each.schedule.settle_s <= 17


def test_every_claim_of_the_demo_s_cells_is_known() -> None:
    names = [claim.name for claim in claims.shipped()]
    known = expectations.shipped(names)
    for each in demo.experiment_of(7, "x").runs:
        expected = {name for name in names if known.expected(each.cell, name) is not None}
        assert "confirmed-is-delivered" in expected
    bad = demo.experiment_of(7, "x").runs[-1]
    assert str(known.expected(bad.cell, "confirmed-is-delivered")) == "FAIL"


@pytest.mark.nightly  # CI plays the demo from the installed wheel (.ci/package)
@pytest.mark.slow
def test_the_demo_ends_as_it_should(tmp_path: Path) -> None:
    """The first command that a newcomer runs: what it shows is what is known of its cells."""
    words = [sys.executable, "-m", "harness", "demo", "--results", str(tmp_path)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "layout B lost confirmed messages" in ended.stdout
