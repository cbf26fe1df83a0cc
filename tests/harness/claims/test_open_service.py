"""Undecided service: one cause, one remedy."""

import pytest

from harness.claims import open_service
from spark_analysis.schema import service as words
from tests.harness.claims.judging import INCONCLUSIVE, verdict
from tests.rigs.runs.findings import Story

# The fault of a story begins at 12 s, and its undo at 27 s. Its deadline is 2 s.
LASTS = "let the fault last longer (`lasts`)"
TWICE = (
    "let the fault last at least 30 s, twice as long (`lasts`), to see whether a confirm comes "
    "before its undo"
)


def outage(begins: float, ends: float, ended: str) -> Story:
    return Story().service(words.OPEN).outage(begins, ends, ended)


def two() -> Story:
    return outage(12, 15, words.SYSTEM).outage(18, 20, words.SYSTEM)


def few(due: int) -> Story:
    return Story().service(words.OPEN, due=due)


@pytest.mark.parametrize(
    ("story", "why", "advice"),
    [
        (outage(12, 26.7, words.EITHER), "on time again from 0.3 s before the undo began", LASTS),
        (outage(12, 27.3, words.EITHER), "on time again from 0.3 s after the undo began", LASTS),
        (outage(12, 25, words.SYSTEM), "service came back 2.0 s before the undo began", LASTS),
        (two(), "there were 2 outages while the fault was active; only more than that", LASTS),
        (outage(25.5, 29, words.UNDO), "late only from 1.5 s before the undo began", LASTS),
        (outage(12, 30, words.UNDO), open_service.TOO_FEW, open_service.MORE),
        (outage(12, 20, words.UNKNOWN), open_service.NOT_NORMAL, open_service.LONGER_AFTER),
        (few(19), "only 19 messages were due, and most of them were late", LASTS),
        (few(0), "nothing was due for more than 5 s after a late message", open_service.MORE),
    ],
)
def test_undecided_service_names_one_cause_and_one_remedy(
    story: Story, why: str, advice: str
) -> None:
    one = verdict("mirror-takes-over", story)
    assert one.outcome is INCONCLUSIVE
    assert len(one.not_judged) == 1
    assert why in one.not_judged[0]
    assert one.advice == (advice,)


def test_without_a_confirm_under_the_fault_the_undo_may_have_brought_service() -> None:
    """A quorum queue refused all publishes until its dead node was back: the source names no time,
    so a slow takeover looks alike."""
    story = outage(12, 26.7, words.EITHER).stage("first_success", 16.5)
    one = verdict("mirror-takes-over", story)
    assert one.outcome is INCONCLUSIVE
    assert (
        "(15.0 s); the first confirm came 1.5 s after that, so the undo may" in one.not_judged[0]
    )
    assert one.advice == (TWICE,)


def test_without_a_confirm_under_the_fault_there_was_nothing_to_consume() -> None:
    story = Story().stage("first_success", 16.5).consumption(False, due=0).silent_consumer(due=0)
    one = verdict("unnotified-consumer-waits-forever", story)
    assert one.outcome is INCONCLUSIVE
    assert "so consumers had no new message to get" in one.not_judged[0]
    assert one.advice == (TWICE,)


@pytest.mark.parametrize(
    ("ended", "begins", "why"),
    [
        (words.UNKNOWN, 31, open_service.NOT_NORMAL),
        (words.NEVER, 58.5, "late only from 1.5 s before the judged time ended"),
        (words.NEVER, 57.5, f"{open_service.TOO_FEW} the judged time ended"),
    ],
)
def test_undecided_service_after_the_fault_needs_a_longer_load(
    ended: str, begins: float, why: str
) -> None:
    story = Story().service(words.OPEN, promise=words.HEALED).outage(begins, 60, ended)
    one = verdict("available-after-fault", story)
    assert one.outcome is INCONCLUSIVE
    assert why in one.not_judged[0]
    assert one.advice == (open_service.LONGER_AFTER,)


def test_slow_consumers_are_given_no_more_messages() -> None:
    story = Story(processing_s=0.01).service(words.OPEN).outage(12, 30, words.UNDO)
    assert verdict("mirror-takes-over", story).advice == (LASTS,)
