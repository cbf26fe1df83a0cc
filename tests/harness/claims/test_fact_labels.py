"""Evidence names facts in words: a count in a sentence, any other fact by its label."""

import pytest

from harness.claims.claims import parse_condition, shipped
from harness.claims.fact_labels import (
    UNSURE,
    allows_none,
    measured,
    needed_answer,
    wanted,
)
from harness.claims.judge import NO_OTHER
from harness.claims.values import CountText, exactly
from harness.plan.vocabulary import COUNTS, FACTS
from spark_analysis.schema.measures import REGISTER
from tests.harness.claims.judging import NOT_APPLICABLE, verdict
from tests.rigs.runs.findings import Story

LABEL_MAX = 70  # characters


@pytest.mark.parametrize(
    ("condition", "value", "text"),
    [
        ("lost == 0", "428 of 2,299", "428 of 2,299 confirmed messages were lost"),
        (
            "lost == 0",
            CountText("1 of 9", " × 2 groups"),
            "1 of 9 confirmed messages × 2 groups was lost",
        ),
        ("unexpected == 0", "1", "1 delivery was of messages that were never sent"),
        ("unexpected == 0", "at least 3", "at least 3 deliveries were of messages that were "),
        (
            "duplicated.stored_twice == 0",
            CountText("2", beside="certainly due to fault 1"),
            "2 deliveries were duplicates (stored twice) (certainly due to fault 1)",
        ),
        (
            "lost == 0",
            CountText("2 of 9", beside="certainly due to fault 1 (kill)"),
            "2 of 9 confirmed messages were lost, certainly due to fault 1 (kill)",
        ),
        (
            "reordered >= 1",
            CountText("0", beside="(none)"),
            "0 delivered messages were out of order at their first delivery (none)",
        ),
        ("consumers >= 1", "0", "consumers: 0"),
        ("silence_s <= 5", "0.2 s", "longest time without a confirm: 0.2 s"),
    ],
)
def test_a_count_is_a_sentence_and_another_fact_has_a_label(
    condition: str, value: str | CountText, text: str
) -> None:
    assert measured(parse_condition(condition), exactly(1, value)).startswith(text)


def test_the_values_that_a_condition_allows_are_words() -> None:
    conditions = ("copies >= 2", "silence_s <= 10", "fault_kind == kill | stop", "elects == true")
    assert [wanted(parse_condition(one)) for one in conditions] == [
        "at least 2",
        "at most 10 s",
        "kill or stop",
        "",
    ]
    assert allows_none(parse_condition("lost == 0"))
    assert not allows_none(parse_condition("consumers == 0"))


def test_a_false_yes_or_no_stands_with_the_answer_that_the_claim_is_about() -> None:
    conditions = ("elects == true", "elects == false", "elects != true", "copies >= 2")
    answers = [needed_answer(parse_condition(one)) for one in conditions]
    assert answers == ["yes", "no", "no", ""]


def test_every_fact_of_a_claim_is_named_in_a_few_words() -> None:
    named = {one.fact for claim in shipped() for one in (*claim.precondition, *claim.predicate)}
    others = {name for name in named if name.partition(".")[0] not in COUNTS}
    assert all(one.label for one in FACTS.values())
    assert all(len(FACTS[name].label) <= LABEL_MAX for name in others)
    texts = [*(FACTS[name].label for name in others), *(one.sentence("2") for one in REGISTER)]
    assert not any(UNSURE in text or "`" in text for text in texts)


def test_a_requirement_without_anything_to_measure_says_that_the_others_held() -> None:
    one = verdict("mirrored-queue-works-on", Story(consumers=0))
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (
        "fault 1: not applicable, because the run has no consumer (`consumption_resumes == true`)",
        NO_OTHER,
    )
    assert NO_OTHER not in verdict("nothing-early", Story()).not_judged
