"""A night for machines that know tests."""

from xml.etree import ElementTree as xml

from msgspec.structs import replace

from harness.nightly import message
from harness.nightly.record import Night
from tests.harness.nightly.nights import good, night
from tests.harness.nightly.verdicts import CELL


def suites(*nights: Night) -> xml.Element:
    *before, tonight = nights
    return xml.fromstring(message.text(*message.answered(good(), before, tonight)))


def test_a_night_without_regression_passes_every_test() -> None:
    xml = suites(night(1))
    assert [xml.get(name) for name in ("tests", "failures", "errors", "skipped")] == list("1000")


def test_an_alarm_is_a_failure_with_its_text() -> None:
    xml = suites(night(1, lost=True))
    (failure,) = xml.iter("failure")
    assert (failure.get("message") or "").startswith("loss did not happen before")
    assert xml.get("failures") == "1"


def test_missing_baseline_is_skipped_and_unjudged_is_an_error() -> None:
    other = ("master-freeze", *CELL[1:])
    assert suites(night(1, cells=(other,))).get("skipped") == "1"
    whole = night(1)
    assert suites(replace(whole, played=(), cells=())).get("errors") == "1"


def test_characters_that_xml_forbids_are_escaped() -> None:
    hostile = ("a\x00b\u202e<c>", *CELL[1:])
    xml = message.text(*message.answered(good(), (), night(1, cells=(hostile,))))
    assert "a\\x00b\\u202e&lt;c&gt;" in xml
