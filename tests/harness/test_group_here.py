"""A DLedger group of the reference loses its leader, as a newcomer plays it: without Docker."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docker.command_line import mqproof

pytestmark = [pytest.mark.slow, pytest.mark.long]

END_LIMIT_S = 400
WORDS = ("master-crash", "--system", "reference-dledger", "--seed", "7", "--judge", "claims")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The verdict about the one run."""
    folder = tmp_path_factory.mktemp("group")
    process = mqproof(folder, "run", *WORDS)
    output, _ = process.communicate(timeout=END_LIMIT_S)
    (found,) = Path(folder).rglob("verdict.json")
    (one,) = json.loads(found.read_text(encoding="utf-8"))["runs"]
    assert one["judged"], output
    document: dict[str, Any] = one
    return document


def test_a_follower_leads_and_nothing_that_was_confirmed_is_lost(run: dict[str, Any]) -> None:
    outcomes = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
    for claim in ("confirmed-is-delivered", "majority-keeps-what-was-confirmed"):
        assert outcomes[claim] == "PASS", outcomes
    # Claims about time: a busy machine leaves them open.
    for claim in ("leader-dies-follower-leads", "one-failure-of-three-is-tolerated"):
        assert outcomes[claim] in ("PASS", "INCONCLUSIVE"), outcomes


def test_the_death_of_the_leader_is_verified(run: dict[str, Any]) -> None:
    assert (run["summary"]["faults"], run["summary"]["faults_seen"]) == (1, 1)
