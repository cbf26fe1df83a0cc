"""claims.toml: what may stand in it, and what stands in it."""

import pytest

from harness.claims.claims import parse_condition, read_claims, shipped, shipped_beside
from harness.claims.judge import ClaimOutcome, ClaimVerdict, judge
from harness.judging.exits import of_claims
from harness.plan.problems import PlanError
from tests.rigs.runs.findings import Story, verdicts_of


def test_shipped_claims_name_their_sources_and_quote_them() -> None:
    for claim in shipped():
        assert claim.source.startswith(("seeds/00", "rabbitmq/", "rocketmq/", "mqproof")), claim
        assert claim.sentence
        assert claim.meaning.isascii(), claim.meaning


def test_claims_of_articles_name_their_section() -> None:
    beside = shipped_beside()
    articles = {article.name for article in beside.articles}
    for claim in shipped():
        article, comma, section = claim.source.partition(", ")
        assert article.startswith("mqproof") or (article in articles and comma and section), claim
    for one in (*beside.compared, *beside.unjudged):
        assert one.source in articles
        assert one.section
        assert one.meaning.isascii(), one.meaning


def test_an_article_section_without_a_claim_is_an_error() -> None:
    source = """
    [[article]]
    name = "seeds/000"
    title = "t"
    [[claim]]
    name = "a"
    sentence = "s"
    source = "seeds/00"
    section = "x"
    quantifier = "all"
    predicate = ["lost == 0"]
    """
    with pytest.raises(
        PlanError, match="there is no article 'seeds/00'; did you mean 'seeds/000'"
    ):
        read_claims(source, "mine.toml")


def test_claim_and_comparison_of_one_name_are_an_error() -> None:
    source = """
    [[claim]]
    name = "a"
    sentence = "s"
    source = "x"
    quantifier = "all"
    predicate = ["lost == 0"]
    [[unjudged]]
    name = "a"
    sentence = "s"
    meaning = "s"
    source = "x"
    why = "w"
    """
    with pytest.raises(PlanError, match="claim 'a' stands there twice"):
        read_claims(source, "mine.toml")


def test_no_precondition_names_a_system_or_a_layout() -> None:
    for claim in shipped():
        for condition in claim.precondition:
            assert condition.fact not in ("system", "layout", "scenario", "client")


def test_a_meaning_speaks_of_disks_only_where_confirms_wait_for_them() -> None:
    for claim in shipped():
        if "confirm" in claim.meaning and "on disk" in claim.meaning:
            facts = {one.fact for one in claim.precondition}
            assert "confirm_waits_for_disk" in facts, claim.name


def test_a_condition_is_a_fact_a_comparator_and_a_value() -> None:
    condition = parse_condition("fault_kind == kill | partition")
    assert (condition.fact, condition.comparator) == ("fault_kind", "==")
    assert condition.wanted == ("kill", "partition")
    assert condition.of_window
    assert parse_condition("lost == 0").wanted == (0.0,)
    assert parse_condition("confirms != true").wanted == (True,)
    assert parse_condition("duplicated.stored_twice == 0").fact == "duplicated.stored_twice"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lst == 0", "did you mean 'lost'"),
        ("layout == all-automatic", "there is no fact 'layout'"),
        ("lost = 0", "is not `fact comparator value`"),
        ("lost == none", "a number is expected"),
        ("confirms == yes", "true or false is expected"),
        ("confirms >= true", "is no number"),
        ("lost == 0 | 1", "alternatives go with == and words only"),
        ("fault_kind != kill | stop", "alternatives go with == and words only"),
    ],
)
def test_a_condition_that_means_nothing_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_condition(text)


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    source = """
    [[claim]]
    name = "a"
    sentence = "s"
    source = "x"
    quantifier = "some"
    precondition = ["copes == 1", "confirms == 1"]
    predicate = ["lst == 0"]
    """
    with pytest.raises(PlanError) as caught:
        read_claims(f"{source}quanti = 1", "mine.toml", taken=["a"])
    assert [problem.place for problem in caught.value.problems] == [
        "mine.toml, line 3, [[claim]] 1, name",
        "mine.toml, line 7, [[claim]] 1, precondition, number 1",
        "mine.toml, line 7, [[claim]] 1, precondition, number 2",
        "mine.toml, line 8, [[claim]] 1, predicate, number 1",
        "mine.toml, line 9, [[claim]] 1, quanti",
    ]


PLAIN = '[[claim]]\nname = "a"\nsentence = "s"\nsource = "x"\npredicate = ["lost >= 1"]\n'
ALL = f'{PLAIN}quantifier = "all"\n'


def test_claim_must_state_whether_it_covers_all_or_some_cases() -> None:
    with pytest.raises(PlanError, match="quantifier: is missing"):
        read_claims(PLAIN, "mine.toml")
    with pytest.raises(PlanError, match=r"'most' is not a valid value; valid: all \| some"):
        read_claims(f'{PLAIN}quantifier = "most"', "mine.toml")


def test_warning_is_marked_and_unseen_harm_breaks_no_promise() -> None:
    promise, warning = (
        verdicts_of(read_claims(source, "mine.toml"), Story().evidence)
        for source in (ALL, f"{ALL}warns = true\n")
    )
    assert [one.outcome for one in (*promise, *warning)] == [ClaimOutcome.FAIL, ClaimOutcome.FAIL]
    assert [one.warns for one in (*promise, *warning)] == [False, True]
    assert of_claims([promise]) == 1
    assert of_claims([(*warning, kept())]) == 0


def kept() -> ClaimVerdict:
    return ClaimVerdict("kept", ClaimOutcome.PASS, "", "", "")


def test_claim_about_some_cases_is_marked_and_never_refuted() -> None:
    (claim,) = read_claims(f'{PLAIN}quantifier = "some"', "mine.toml")
    some = judge(claim, Story().evidence)
    assert (some.some, some.outcome) == (True, ClaimOutcome.INCONCLUSIVE)
    assert some.story == "", "there is no story of an example that did not come"
    assert not some.is_promise
    assert of_claims([(some, kept())]) == 0


def test_a_claims_name_has_small_letters_digits_and_hyphens() -> None:
    with pytest.raises(PlanError, match=r"line 2, .*, name: must have small letters"):
        read_claims(ALL.replace('"a"', '"Bad Name"'), "mine.toml")


def test_two_claims_of_one_name_are_an_error() -> None:
    with pytest.raises(PlanError, match="'a' stands there twice"):
        read_claims(ALL * 2, "mine.toml")
