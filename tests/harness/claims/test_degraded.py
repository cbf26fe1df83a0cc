"""Of a load that was degraded before a fault: whether an earlier fault explains it."""

from dataclasses import replace

import pytest

from harness.claims.degraded import degraded
from harness.claims.values import Unknown
from spark_analysis.schema.service import NEVER, SICK, Service
from tests.rigs.runs.findings import Story

FROM_BEFORE = "the load was already degraded before the fault"


def second_fault(begins: float, *, first_lasts: float = 30) -> Story:
    """Fault 1 begins at 12 s, fault 2 at 24 s. An outage begins at `begins` and lasts into it."""
    story = Story().steady().window(1, "partition", lasts=first_lasts)
    story.window(2, "kill", opens=24, lasts=8).service(SICK, window=2)
    return story.outage(begins, 45, windows="1,2")


def reason(story: Story) -> Unknown:
    value = story.evidence.value("available_during_fault", 2)
    assert isinstance(value, Unknown)
    return value


def test_an_outage_since_a_fault_that_goes_on_names_that_fault() -> None:
    found = reason(second_fault(12.1))
    assert found.reason == (
        "the load was degraded since fault 1: it had not ended when this fault began"
    )
    assert "increase its `opens`" in found.advice
    assert "`beside_others`" in found.advice
    assert "other programs" not in found.advice


def test_an_outage_since_a_fault_that_ended_says_service_had_not_recovered() -> None:
    found = reason(second_fault(12.1, first_lasts=8))
    assert found.reason.endswith("service had not recovered from it when this fault began")


@pytest.mark.parametrize(("begins", "named"), [(10.0, True), (9.9, False)])
def test_what_was_due_a_deadline_before_a_fault_may_be_its_harm(
    begins: float, named: bool
) -> None:
    assert ("fault 1" in str(reason(second_fault(begins)).reason)) is named


def test_an_outage_from_before_every_fault_suggests_a_lighter_load() -> None:
    found = reason(second_fault(5.0))
    assert found.reason == FROM_BEFORE
    assert "lower `rate`" in found.advice


def test_a_sick_row_without_its_outage_names_no_fault() -> None:
    story = Story().service(SICK).window(2, "kill", opens=24, lasts=8).service(SICK, window=2)
    assert reason(story).reason == FROM_BEFORE


def test_an_outage_of_another_queue_names_no_fault() -> None:
    story = second_fault(12.1)
    story.outages.clear()
    story.outage(12.1, 45, NEVER, scope="queue", name="bills", windows="1,2")
    assert reason(story).reason == FROM_BEFORE


def test_a_limit_of_silence_after_an_earlier_fault_names_it() -> None:
    story = second_fault(12.1)
    claimed = story.evidence.claimed("silence_s", 2)
    assert isinstance(claimed, Unknown)
    assert "since fault 1" in str(claimed.reason)


def test_an_outage_long_after_recovery_names_no_earlier_fault() -> None:
    story = Story().steady().window(1, "partition", lasts=5)
    story.window(2, "kill", opens=78, lasts=8).service(SICK, window=2)
    story.outage(70, 90, windows="2")
    assert reason(story).reason == FROM_BEFORE


def test_an_outage_soon_after_an_undo_names_that_fault() -> None:
    story = second_fault(18.5, first_lasts=5)
    (one,) = story.outages
    story.outages[:] = [replace(one, windows="2")]
    assert "service had not recovered" in str(reason(story).reason)


def test_a_row_of_a_fault_that_never_began_names_none() -> None:
    story = second_fault(12.1)
    (row,) = (one for one in story.evidence.findings.service if _of_run(one))
    found = degraded(row, replace(story.facts, windows=story.facts.windows[:1]), story.outages)
    assert found.reason == FROM_BEFORE


def _of_run(row: Service) -> bool:
    return (row.scope, row.window, row.promise) == ("run", 2, "fault")
