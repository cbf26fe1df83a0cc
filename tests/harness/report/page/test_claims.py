"""The page of claims: whose words they are."""

from dataclasses import replace

import pytest

from harness.claims.claims import read_claims
from harness.report.page.cells import cells
from harness.report.page.claims import claims
from tests.rigs.runs.findings import Story, verdicts_of
from tests.rigs.runs.judged_runs import WARNING, page_of, summed


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("seeds/003, GM", "“Rabbitmq技术内幕”, tunsuy, 2020-06-12, section “GM”"),
        ("seeds/004", "“RabbitMQ Highly Available”, 2019-05-25"),  # no address: nothing outside
        ("mqproof, design section 4", "mqproof, design section 4"),
    ],
)
def test_a_claims_source_is_the_articles_title_and_section(source: str, text: str) -> None:
    run = summed(Story())
    run = replace(run, verdicts=tuple(replace(one, source=source) for one in run.verdicts))
    report = page_of(run)
    assert {view.source for view in claims(report, cells(report))} == {text}


@pytest.mark.parametrize(
    ("story", "badge"),
    [
        (Story().stage("consumers_resumed", 48.0, reached=False), "! WARNING CONFIRMED"),
        (Story(), "– WARNING NOT SEEN"),
    ],
)
def test_a_warning_is_neither_good_news_nor_a_promise(story: Story, badge: str) -> None:
    verdicts = verdicts_of(read_claims(WARNING, "claims of a test"), story.evidence)
    report = page_of(summed(story, verdicts=verdicts))
    (view,) = claims(report, cells(report))
    assert {(view.tone, view.badge)} | {(one.tone, one.badge) for one in view.seen} == {
        ("open", badge)
    }
    assert {(chip.tone, chip.badge) for chip in view.chips} == {("open", badge)}
