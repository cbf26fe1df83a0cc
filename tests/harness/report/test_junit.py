"""junit.xml: what a build server makes of an experiment."""

import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as xml

from harness.judging.exits import Judge
from harness.judging.result import Report
from harness.outside.text import visible
from harness.report import junit
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED, run

FAILS = "never-silent"  # on this cell, and is known to


def parsed(made: Report) -> xml.Element:
    return xml.fromstring(junit.text(made))


def case(made: Report, name: str) -> xml.Element:
    (found,) = (one for one in parsed(made).iter("testcase") if one.get("name") == name)
    return found


def outcome(element: xml.Element) -> list[str]:
    return [child.tag for child in element if child.tag != "system-out"]


def test_suite_is_a_cell_and_test_a_claim_and_repeat() -> None:
    made = page_of(summed(Story()), summed(Story(), repeat=2), summed(Story(), cell=OTHER))
    suites = parsed(made)
    assert [suite.get("name") for suite in suites] == [
        "master-crash on rabbitmq-mirrored all-automatic@T=10 with pika",
        "master-crash on rabbitmq-mirrored exactly-2@T=10 with pika",
    ]
    names = [one.get("name") for one in suites[0].iter("testcase")]
    assert names.count("nothing-corrupt [repeat 1]") == names.count("nothing-corrupt [repeat 2]")
    assert len(set(names)) == len(names) == int(suites[0].get("tests", ""))
    place = case(page_of(summed(Story())), "nothing-corrupt [repeat 1]").get("classname")
    assert place == "master-crash.rabbitmq-mirrored.all-automatic@T=10.pika"


def test_a_suite_says_of_how_many_runs_each_claim_is() -> None:
    made = page_of(summed(Story()), summed(Story(), repeat=2), run(Story(), verdicts=()))
    found = {one.get("name"): one.get("value") for one in parsed(made).iter("property")}
    assert found[f"runs of {FAILS}"] == (
        "violated in 2 of 2 runs (95 % CI: 16 to 100 %); not decided in 1"
    )
    assert found["not judged"] == "1 of 3 runs could not be judged"
    assert "runs of survives-hangs" not in found


def test_fail_of_a_claim_is_a_failure_with_its_line() -> None:
    failed = case(page_of(summed(Story())), f"{FAILS} [repeat 1]")
    assert outcome(failed) == ["failure"]
    line = failed.findtext("failure") or ""
    assert line.startswith(f"FAIL {FAILS}: fault 1: longest time without a confirm: 0.171 s; ")
    assert parsed(page_of(summed(Story()))).get("failures") == "1"


def test_an_unconfirmed_warning_is_no_failure() -> None:
    """The exit code does not count it either."""
    one = summed(Story())
    warns = tuple(replace(verdict, warns=verdict.claim == FAILS) for verdict in one.verdicts)
    failed = case(page_of(replace(one, verdicts=warns)), f"{FAILS} [repeat 1]")
    assert outcome(failed) == []
    assert str(failed.findtext("system-out")).startswith(f"WARNING NOT SEEN {FAILS}: ")


def test_expected_fail_is_no_failure_but_is_reported() -> None:
    made = page_of(summed(Story()), judge=Judge.EXPECTATIONS)
    known = case(made, f"{FAILS} [repeat 1]")
    assert outcome(known) == []
    assert "expected in this cell" in (known.findtext("system-out") or "")
    assert parsed(made).get("failures") == "0"
    assert made.exit_code == 0


def test_unexpected_pass_is_a_failure_against_expectations() -> None:
    story = Story().silence(0.05)
    made = page_of(summed(story), judge=Judge.EXPECTATIONS)
    assert outcome(case(made, f"{FAILS} [repeat 1]")) == ["failure"]
    assert made.exit_code == 1


def test_an_unexpected_fail_is_a_failure_when_judged_by_expectations() -> None:
    cell = ("my-own", *CELL[1:3], "other-client")
    made = page_of(summed(Story(), cell=cell), judge=Judge.EXPECTATIONS)
    assert outcome(case(made, f"{FAILS} [repeat 1]")) == ["failure"]


def test_undecided_or_inapplicable_claim_is_skipped_with_its_reason() -> None:
    for judge in Judge:
        made = page_of(summed(Story().unverified("the process still runs")), judge=judge)
        skipped = case(made, "nothing-corrupt [repeat 1]").find("skipped")
        assert skipped is not None
        assert "the process still runs" in (skipped.get("message") or "")
    not_applicable = case(page_of(summed(Story())), "survives-hangs [repeat 1]").find("skipped")
    assert not_applicable is not None
    assert (not_applicable.get("message") or "").startswith("NOT APPLICABLE")


def test_unjudged_run_is_an_error_with_its_reason() -> None:
    made = page_of(run(Story(), verdicts=(), failure="no cluster"))
    broken = case(made, "run is judged [repeat 1]").find("error")
    assert broken is not None and broken.text == "no cluster"
    assert parsed(made).get("errors") == "1"


def test_skipped_cell_is_a_suite_with_the_reason() -> None:
    made = page_of(summed(Story()), skipped=(SKIPPED,))
    skipped = case(made, "cell applies").find("skipped")
    assert skipped is not None and skipped.get("message") == "NOT APPLICABLE: no mirror"


def test_the_counts_are_those_of_the_tests() -> None:
    suites = parsed(page_of(summed(Story()), summed(Story().unverified("no"), repeat=2)))
    for element in (suites, *suites):
        cases = list(element.iter("testcase"))
        assert int(element.get("tests", "")) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(name, "")) == sum(one.find(tag) is not None for one in cases)


def test_texts_of_others_stay_texts(tmp_path: Path) -> None:
    evil = "]]></failure><script>\x00\ud800\x1b[31m"
    made = page_of(
        run(Story(), verdicts=(), failure=evil),
        replay=evil,
        versions={evil: evil},
        experiment=evil,
    )
    document = xml.fromstring(junit.write(made, tmp_path).read_bytes())
    assert {element.tag for element in document.iter()} == {
        *("testsuites", "testsuite", "properties", "property", "testcase", "error"),
    }
    (broken,) = document.iter("error")
    assert broken.text == "]]></failure><script>\\x00\\ud800\\x1b[31m"
    assert [path.name for path in tmp_path.iterdir()] == ["junit.xml"]


def test_junit_has_the_replay_command() -> None:
    found = {
        one.get("name"): one.get("value")
        for one in parsed(page_of(summed(Story()))).iter("property")
    }
    assert found["replay"] == "mqproof run master-crash --seed 7"
    assert found["rabbitmq"] == "3.10.8"


def test_junit_stays_well_formed_for_any_character(tmp_path: Path) -> None:
    for begin in range(0, sys.maxunicode + 1, 0x8000):
        every = "".join(map(chr, range(begin, begin + 0x8000)))
        made = page_of(run(Story(), verdicts=(), failure=every), replay=every)
        document = xml.fromstring(junit.write(made, tmp_path).read_bytes())
        (broken,) = document.iter("error")
        assert broken.text == visible(every)
