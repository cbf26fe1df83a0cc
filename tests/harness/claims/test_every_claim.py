"""Each shipped claim can hold, can be refuted, and knows when it has nothing to say."""

from dataclasses import replace

import pytest

from faults.kinds import KINDS
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome
from tests.harness.claims import (
    stories_of_elections,
    stories_of_every_broker,
    stories_of_majorities,
    stories_of_mirrored_queues,
    stories_of_name_servers,
    stories_of_recoveries,
)
from tests.harness.claims.claim_stories import Three
from tests.harness.claims.judging import CLAIMS, FAIL, INCONCLUSIVE, PASS, verdict

NAMES = sorted(CLAIMS)
STORIES: dict[str, Three] = {
    **stories_of_every_broker.STORIES,
    **stories_of_elections.STORIES,
    **stories_of_majorities.STORIES,
    **stories_of_mirrored_queues.STORIES,
    **stories_of_name_servers.STORIES,
    **stories_of_recoveries.STORIES,
}


@pytest.fixture(autouse=True)
def _a_power_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fault of today takes what was written and not synced; claims must be ready for one."""
    dark = replace(KINDS["kill"], name="power_loss", takes_page_cache=True)
    monkeypatch.setitem(KINDS, "power_loss", dark)


def test_each_claim_has_its_three_stories() -> None:
    assert sorted(STORIES) == sorted(claim.name for claim in shipped())


@pytest.mark.parametrize("claim", NAMES)
def test_each_claim_passes_in_a_run_that_keeps_it(claim: str) -> None:
    one = verdict(claim, STORIES[claim].holds())
    assert one.outcome is PASS, one.not_judged
    assert one.judged


@pytest.mark.parametrize("claim", NAMES)
def test_a_counterexample_refutes_it_unless_it_is_about_some_cases(claim: str) -> None:
    one = verdict(claim, STORIES[claim].refuted())
    expected: ClaimOutcome = INCONCLUSIVE if CLAIMS[claim].some else FAIL
    assert one.outcome is expected, (one.judged, one.not_judged)


@pytest.mark.parametrize("claim", NAMES)
def test_exceptions_of_a_claims_source_are_not_judged(claim: str) -> None:
    of = STORIES[claim]
    one = verdict(claim, of.not_judged())
    expected, why = of.why
    assert one.outcome is expected, (one.judged, one.not_judged)
    assert why in " ".join(one.not_judged)
