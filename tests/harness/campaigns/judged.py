"""Runs as they were judged, and files that tell of them."""

import json
from dataclasses import replace
from pathlib import Path

from harness.campaigns.stored import CampaignRun
from harness.claims.judge import ClaimOutcome
from harness.plan.model import cell_of

REAL, REFERENCE = "rabbitmq-mirrored", "reference-mirrored"
LAYOUT = "all-automatic@T=10"
HARMLESS = "mirror-failure-affects-own-clients"
_OTHERS = (
    "nothing-unexpected nothing-corrupt refused-stays-refused confirmed-is-delivered "
    "queue-is-first-in-first-out"
)
USUAL = f"{_OTHERS} {HARMLESS}"


def run(
    passed: str = USUAL, failed: str = "", inconclusive: str = "", **changes: object
) -> CampaignRun:
    words = {
        ClaimOutcome.PASS: passed,
        ClaimOutcome.FAIL: failed,
        ClaimOutcome.INCONCLUSIVE: inconclusive,
        ClaimOutcome.NOT_APPLICABLE: "mirror-takes-over",
    }
    run_values = CampaignRun(
        experiment="20261122-000000-aaaa",
        seed=7,
        run="mirror-crash-1-beef",
        repeat=1,
        scenario="mirror-crash",
        system=REAL,
        layout=LAYOUT,
        client="pika",
        deployment="compose",
        broker="3.10.8",
        outcomes={claim: one for one, claims in words.items() for claim in claims.split()},
    )
    return replace(run_values, **changes)  # type: ignore[arg-type]


def failed(**changes: object) -> CampaignRun:
    reasons = {HARMLESS: "missed == 0, found 9 | <b>"}
    found = run(passed=_OTHERS, failed=HARMLESS, reasons=reasons)
    return replace(found, **changes)  # type: ignore[arg-type]


def undecided(**changes: object) -> CampaignRun:
    found = run(passed=_OTHERS, inconclusive=HARMLESS)
    return replace(found, **changes)  # type: ignore[arg-type]


def verdict_file(folder: Path, experiment: str, seed: int | None = 7) -> None:
    claims = [
        {
            "claim": "confirmed-is-delivered",
            "outcome": "PASS",
            "judged": ["lost == 0, found 0 of 9"],
        },
        {
            "claim": "mirror-failure-affects-own-clients",
            "outcome": "FAIL",
            "judged": ["missed == 0, found 9"],
        },
        {"claim": "mirror-takes-over", "outcome": "NOT APPLICABLE", "judged": []},
    ]
    cell = dict(zip(("scenario", "system", "layout", "client"), cell_of(run()), strict=True))
    one = {"name": "r-1", "cell": cell, "repeat": 2, "claims": claims, "cost": None}
    document = {
        "format": "mqproof verdict",
        "version": 2,
        "experiment": experiment,
        "seed": seed,
        "versions": {"rabbitmq": "3.10.8"},
        "runs": [one],
    }
    (folder / experiment).mkdir()
    (folder / experiment / "verdict.json").write_text(json.dumps(document))
