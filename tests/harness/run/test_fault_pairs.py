"""Two faults at once on a real cluster of the reference: each is verified, and each ends."""

import asyncio
from pathlib import Path

import pytest

from faults.mechanisms import LOCAL
from harness.plan.model import RunPlan
from tests.rigs.runs.fault_pairs import OTHER, SAME, Pair, pairs, planned, play

pytestmark = [pytest.mark.slow, pytest.mark.long]

IN_CI = (
    Pair("partition", "freeze", "nested", OTHER),
    Pair("kill", "black_hole", "overlapping", OTHER),
)
REPRESENTATIVE = (
    *IN_CI,
    Pair("freeze", "partition", "nested", SAME),
    Pair("partition", "partition", "overlapping", OTHER),
    Pair("slow", "hang", "overlapping", SAME),
    Pair("hang", "kill", "nested", SAME),
    Pair("client_freeze", "partition", "in the undo", ""),
)
LATER = [pair for pair in pairs() if pair not in IN_CI]


def verify(pair: Pair, folder: Path) -> None:
    run = planned(pair)
    if not isinstance(run, RunPlan):
        assert run, "a refusal says why"
        return
    (folder / "runs").mkdir()
    played = asyncio.run(play(run, folder))
    assert played.verified, played.reason


@pytest.mark.parametrize("pair", IN_CI, ids=lambda pair: pair.name)
def test_two_faults_at_once_are_both_verified(pair: Pair, tmp_path: Path) -> None:
    verify(pair, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("pair", LATER, ids=lambda pair: pair.name)
def test_every_pair_is_verified_or_refused_at_planning(pair: Pair, tmp_path: Path) -> None:
    verify(pair, tmp_path)


def test_the_representative_pairs_are_planned() -> None:
    assert all(isinstance(planned(pair, LOCAL), RunPlan) for pair in REPRESENTATIVE)
