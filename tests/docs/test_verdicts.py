"""docs/verdicts.md says what every measure, doubt and word of a record means, and no other."""

import re
from pathlib import Path

import pytest

from harness.workers.rocketmq.ways import ROCKETMQ_WAYS
from spark_analysis.schema import service
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import PLACES, REGISTER
from spark_analysis.schema.ways import OWN_WAYS
from spark_analysis.schema.words import Outcome, Strength

TEXT = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text("utf-8")
GRADES = "|".join(Grade)
DOCUMENTED = dict(re.findall(rf"`([a-z_]+)`\s+\(({GRADES})\b", TEXT))


def test_exactly_the_registered_measures_are_reported_with_their_grade() -> None:
    register = {measure.name: measure.grade for measure in REGISTER}
    details = {detail.name: detail.grade for one in REGISTER for detail in one.details}
    assert register | details == DOCUMENTED


def test_every_reason_that_stops_a_measure_is_in_the_table() -> None:
    table = re.findall(r"(?m)^\| (run|availability|loss) \| ([^|]+) \|", TEXT)
    documented = {
        (scope, reason) for scope, names in table for reason in re.findall(r"`(\w+)`", names)
    }
    stops = {(stop.scope, stop.reason) for measure in REGISTER for stop in measure.stopped_by}
    assert stops <= documented
    assert {("loss", place) for place in PLACES} <= documented
    assert {scope for scope, _ in documented} == {"run", "availability", "loss"}


@pytest.mark.parametrize(
    "word",
    [
        *(each.name.lower() for each in Outcome),
        *(way.label for way in (*OWN_WAYS, *ROCKETMQ_WAYS)),
        *(each.name.lower() for each in Strength if each is not Strength.NONE),
        *(service.SERVED, service.OUT, service.OPEN, service.SICK, service.FEW, service.HEALED),
        *(service.SYSTEM, service.UNDO, service.EITHER, service.UNKNOWN, service.NEVER),
    ],
)
def test_every_word_of_a_record_is_reported(word: str) -> None:
    assert f"`{word}`" in TEXT


def test_the_numbers_of_the_rules_are_those_of_the_code() -> None:
    text = " ".join(TEXT.split())
    assert (
        f"all publishes that are due within {service.STRETCH_NS // 10**9} s from then on" in text
    )
    least, narrow = service.LEAST[service.RUN], service.LEAST[service.QUEUE]
    assert f"extended to {least} publishes of the run ({narrow} of a queue or publisher)" in text
    enough, narrow = service.ENOUGH[service.RUN], service.ENOUGH[service.QUEUE]
    assert f"fewer than {enough} publishes ({narrow} of a narrower scope) due" in text
    assert f"`few`: fewer than {service.JUDGED_MIN} publishes were due" in text
