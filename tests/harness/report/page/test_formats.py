"""Numbers and times as people read them."""

import pytest

from harness.report.page import formats
from harness.view.naming import detail_name
from harness.view.summary import NOT_MEASURED, Number, summary
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.words import RecoveredBy
from tests.rigs.runs.findings import Story


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0.0, "0.00 s"),
        (0.0021, "0.002 s"),
        (0.0994, "0.099 s"),
        (0.0996, "0.100 s"),
        (0.171, "0.171 s"),
        (9.994, "9.99 s"),
        (9.996, "10.0 s"),
        (66.429, "66.4 s"),
        (119.94, "119.9 s"),
        (119.96, "2 min 00 s"),
        (200.4, "3 min 20 s"),
    ],
)
def test_seconds_have_as_many_digits_as_they_mean(number: float, said: str) -> None:
    assert formats.seconds(number).replace("\u00a0", " ") == said


def test_a_number_that_may_be_larger_says_so() -> None:
    assert formats.bound(Number(1234, True)) == "1,234"
    assert formats.bound(Number(3, False, "a log is open")) == "≥ 3"
    assert formats.bound(Number(None, False, "nothing was sent")) == "unknown"


def test_one_of_something_is_no_plural() -> None:
    assert formats.plural(1, "run") == "1 run"
    assert formats.plural(0, "run") == "0 runs"
    assert formats.of(1, 2, "run") == "1 of 2 runs"


def test_measure_without_a_label_is_called_by_its_key() -> None:
    assert formats.measure_name("some_new_count") == "some new count"


def test_every_measure_is_called_as_the_register_has_it() -> None:
    for measure in REGISTER:
        assert formats.measure_name(measure.name) == measure.title
        assert formats.meaning(measure.name) == measure.meaning
    assert formats.meaning("duplicated", "redelivery") == ""  # its detail says it
    assert formats.meaning("lost", "stored") == formats.meaning("lost")


def test_a_provenance_has_a_title() -> None:
    assert detail_name("duplicated", "stored_twice") == "stored twice"
    assert detail_name("duplicated", "some_new_origin") == "some new origin"
    assert detail_name("lost", "stored") == "stored"
    assert detail_name("some_new_count", "as_it_is") == "as it is"


def test_only_what_breaks_a_promise_is_grave() -> None:
    assert formats.is_grave("lost", "replicated")
    assert formats.is_grave("duplicated", "redelivery_after_ack")
    assert not formats.is_grave("duplicated", "redelivery")
    assert not formats.is_grave("loss_unknown", "")
    assert not formats.is_grave("some_new_count", "")


def test_a_stage_says_what_has_happened_by_then() -> None:
    assert formats.stage_meaning("sustained_success") == (
        "of the messages that were due in the 5 s after this time (at least 200), at least "
        "99 % were on time; later ones may be late. Counted from the fault; the downtime counts "
        "from the due time of the first late message"
    )
    assert formats.stage_meaning("some_new_stage") == ""


@pytest.mark.parametrize(
    ("seconds", "reached", "recovered_by", "text", "note"),
    [
        (0.5, True, RecoveredBy.SYSTEM, "after 0.500 s", "of the messages that were due"),
        (0.005, True, RecoveredBy.SYSTEM, "on time again within 0.05 s", ""),
        (
            0.005,
            True,
            RecoveredBy.EITHER,
            "not measured",
            "sending stayed on time, but perhaps only because the fault ended soon",
        ),
        (
            3.2,
            True,
            RecoveredBy.UNDO,
            "after at least 3.200 s",
            "of the messages that were due",
        ),
        (0.005, False, RecoveredBy.SYSTEM, "not measured", "the load ended, or the next fault"),
        (33.8, False, RecoveredBy.SYSTEM, "not within 33.8 s", "of the messages that were due"),
    ],
)
def test_a_time_that_is_only_a_bound_says_so(
    seconds: float, reached: bool, recovered_by: RecoveredBy, text: str, note: str
) -> None:
    story = Story().stage("sustained_success", seconds, reached=reached, recovered_by=recovered_by)
    (row,) = (one for one in story.evidence.findings.stages if one.stage == "sustained_success")
    time = formats.stage_time(row)
    assert time.text == text
    assert time.note.startswith(note)
    assert time.known is (text != NOT_MEASURED)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "100"), (0.99999, "> 99.99"), (0.9996, "99.96"), (3083 / 3095, "99.6"), (0.994, "99")],
)
def test_a_share_below_one_never_reads_as_all(number: float, text: str) -> None:
    assert formats.share(number).replace("\u00a0", " ") == f"{text} %"


def test_without_a_backlog_no_time_is_shown_until_it_was_gone() -> None:
    evidence = Story().stage("backlog_drained", 0.161).evidence
    (row,) = (one for one in evidence.findings.stages if one.stage == "backlog_drained")
    time = formats.stage_time(row, summary(evidence).outages)
    assert (time.text, time.note) == ("no backlog", "")


def test_without_a_late_message_no_stage_is_on_time_again() -> None:
    for reached in (True, False):  # the next fault may come before the stage
        story = Story().missed(0).stage("sustained_success", 0.005, reached=reached)
        evidence = story.evidence
        (row,) = (one for one in evidence.findings.stages if one.stage == "sustained_success")
        time = formats.stage_time(row, summary(evidence).outages)
        assert (time.text, time.note) == ("no message was late", "")
