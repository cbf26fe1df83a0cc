"""The register of measures: it holds what is found and nothing else, and says what that is."""

from dataclasses import dataclass, field

import pytest

from spark_analysis.schema.comparison import MEASURES
from spark_analysis.schema.measure import Grade, Mart, Measure
from spark_analysis.schema.measures import BY_NAME, REGISTER, STAGES, detail, gravity
from spark_analysis.schema.measures_of_runs import ROUTES
from tests.oracle.judge import judge
from tests.oracle.views import stages
from tests.rigs.generated.looks import looks
from tests.rigs.histories.both_judges import Answer, by_kernels, listed, raw_columns
from tests.rigs.histories.fixed import HISTORIES, fixed_histories

EVERY = pytest.mark.parametrize("measure", REGISTER, ids=[each.name for each in REGISTER])

# The worker that runs the tests with Spark has made the generated histories already.
WITH_SPARK = pytest.mark.xdist_group("spark")


@dataclass
class Found:
    """What a judge found in many histories: names of measures, and of stages."""

    counted: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    details: set[tuple[str, str]] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)

    def add(self, answer: Answer) -> None:
        self.counted |= {str(row[2]) for row in answer["counts"]}
        self.details |= {(str(row[2]), str(row[3])) for row in answer["counts"]}
        self.listed |= {str(row[2]) for row in answer["affected"]}
        self.stages |= {str(row[2]) for row in answer["stages"]}


@pytest.fixture(scope="module")
def judged() -> tuple[Found, Found]:
    """By the oracle, and by the kernels."""
    plain, kernels = Found(), Found()
    for number, (facts, rows) in enumerate(fixed_histories(HISTORIES)):
        tables = {**rows, "probes": looks(facts, number)}
        findings = judge(facts, tables)
        plain.add(listed(findings))
        plain.stages |= {row.stage for row in stages(facts, tables)}
        kernels.add(by_kernels(facts, raw_columns(tables)))
    return plain, kernels


@pytest.mark.slow
@WITH_SPARK
def test_the_register_lists_exactly_the_measures_that_are_found(
    judged: tuple[Found, Found],
) -> None:
    for found in judged:
        # Marts that are not counts have no column for the name of what they measure.
        counted = {each.name for each in REGISTER if not each.of_times} | {"missed"}
        assert found.counted == counted
        assert found.listed == {each.name for each in REGISTER if each.listed}
        assert found.stages == STAGES.keys()


@pytest.mark.slow
@WITH_SPARK
def test_a_measure_with_fixed_details_has_these_and_no_others(
    judged: tuple[Found, Found],
) -> None:
    for found in judged:
        for measure in (each for each in REGISTER if each.details):
            seen = {of for name, of in found.details if name == measure.name}
            assert seen == {each.name for each in measure.details}


@EVERY
def test_every_measure_says_what_it_is(measure: Measure) -> None:
    assert measure.title
    assert measure.meaning
    assert isinstance(measure.grade, Grade)
    assert all(each.title for each in measure.details)
    assert not measure.meaning.endswith(".")


@EVERY
def test_a_census_comes_last_and_stands_for_itself(measure: Measure) -> None:
    is_census = measure.grade is Grade.CENSUS
    later = REGISTER[gravity(measure.name) :]
    assert not is_census or all(each.grade is Grade.CENSUS for each in later)
    assert not (is_census and (measure.compared or measure.listed or measure.stopped_by))


@EVERY
def test_a_broken_promise_can_be_claimed_reported_and_shown(measure: Measure) -> None:
    if measure.grade is Grade.VIOLATION:
        assert measure.claimed
        assert measure.listed
        assert measure.story.format(at="+1.000 s", attempt=2, detail="stored")


@EVERY
def test_entries_refer_only_to_registered_measures(measure: Measure) -> None:
    if measure.of is not None and measure.of.measure != ROUTES:
        assert BY_NAME[measure.of.measure].grade is Grade.CENSUS
    if measure.doubtful is not None:
        assert BY_NAME[measure.doubtful.measure].grade is Grade.OPEN
    assert (measure.reached is not None) == (measure.mart is Mart.STAGES)


def test_no_two_measures_share_a_name_or_a_title() -> None:
    assert len(BY_NAME) == len(REGISTER)
    assert len({each.title for each in REGISTER}) == len(REGISTER)


def test_unknown_measures_are_the_least_grave() -> None:
    assert gravity("lost") == 0
    assert gravity("some_new_count") == len(REGISTER)
    assert detail("duplicated", "some_new_origin") is None


def test_every_compared_measure_and_detail_is_requested_from_runs() -> None:
    assert [(each.measure, each.detail) for each in MEASURES] == [
        (measure.name, of)
        for measure in REGISTER
        if measure.compared
        for of in ("", *(each.name for each in measure.details))
    ]


@pytest.mark.parametrize("stage", ["first_success", "consumers_resumed"])
def test_a_stage_says_from_when_sends_count(stage: str) -> None:
    """What was sent while the fault's action still ran does not count (docs/verdicts.md 8)."""
    assert "its action had returned" in STAGES[stage].meaning
