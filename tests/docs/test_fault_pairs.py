"""docs/fault-pairs.md is what planning says, and what was played."""

from pathlib import Path

import pytest

from faults.core.mechanisms import LOCAL
from harness.plan.model import RunPlan
from tests.rigs.runs.fault_pairs import pairs, planned
from tests.rigs.runs.fault_pairs_page import page, results

PAGE = Path(__file__).parents[2] / "docs" / "fault-pairs.md"


@pytest.mark.slow
def test_the_page_of_fault_pairs_is_the_generated_one() -> None:
    assert PAGE.read_text() == page()


def test_only_pairs_that_planning_takes_were_played() -> None:
    known = set(pairs(LOCAL))
    played = [pair for deployment, pair in results() if deployment == LOCAL]
    assert set(played) <= known
    assert all(isinstance(planned(pair), RunPlan) for pair in played)
