"""A slave of CTGMQ's reference that was never master returns with unconfirmed messages, and is
elected: without Docker."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docker.command_line import mqproof

pytestmark = [pytest.mark.slow, pytest.mark.long]

END_LIMIT_S = 600
# A busy machine may stand still for longer than the leases of a quicker profile.
SLAVE_ACK, EPOCHS = "three-replicas-slave-ack@compressed", "three-replicas@compressed"
WORDS = ("divergent-slave", "--system", "reference-ctgmq", "--seed", "7")
PROMISES = ("in-sync-is-not-lost", "confirmed-is-delivered")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """By layout, one run of each."""
    folder: Path = tmp_path_factory.mktemp("divergent-slave")
    process = mqproof(folder, "run", *WORDS, "--layout", SLAVE_ACK, "--layout", EPOCHS)
    output, _ = process.communicate(timeout=END_LIMIT_S)
    (verdict,) = folder.rglob("verdict.json")
    found = json.loads(verdict.read_text(encoding="utf-8"))["runs"]
    assert all(run["judged"] for run in found), output
    return {run["cell"]["layout"]: run for run in found}


@pytest.mark.parametrize(("layout", "outcome"), [(SLAVE_ACK, "FAIL"), (EPOCHS, "PASS")])
def test_only_the_epoch_list_keeps_what_was_confirmed(
    runs: dict[str, dict[str, Any]], layout: str, outcome: str
) -> None:
    run = runs[layout]
    outcomes = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
    assert [outcomes[claim] for claim in PROMISES] == [outcome] * len(PROMISES), outcomes
    totals = run["summary"]
    assert totals["confirmed"] > 0
    assert totals["undecided_messages"] == 0
    assert (totals["lost"] + totals["stranded"] > 0) is (outcome == "FAIL"), totals
