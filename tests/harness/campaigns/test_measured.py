"""What published runs showed is known: entries are made of it, and a person's are left alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaigns import measured, pages
from harness.campaigns.measured import HEAD, Shown
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome
from harness.compare.expectations import Expectations, read_expectations
from harness.plan.problems import PlanError
from tests.harness.campaigns.published import made_pages
from tests.rigs.runs.reports import CELL

NAMES = [claim.name for claim in shipped()]
SHOWN = Shown(
    CELL,
    "a-page.md",
    3,
    {"nothing-corrupt": [ClaimOutcome.PASS, ClaimOutcome.FAIL], "one-copy": [ClaimOutcome.FAIL]},
)


def read(text: str) -> Expectations:
    return read_expectations(text, "expectations", NAMES)


def test_measured_entries_come_before_a_persons() -> None:
    (first, *_) = measured.known().entries
    assert first.why.startswith("results/published/")
    written = measured.known_by_hand().entries
    assert written
    assert not [one.why for one in written if one.why.startswith("results/published/2026-11-27")]
    assert measured.known().entries[-len(written) :] == written


def test_an_entry_names_each_outcome_and_its_page() -> None:
    text = measured.with_entries(HEAD, [SHOWN], [SHOWN.page])
    known = read(text)
    assert str(known.expected(CELL, "nothing-corrupt")) == "PASS or FAIL"
    assert str(known.expected(CELL, "one-copy")) == "FAIL"
    assert "results/published/a-page.md, 3 runs" in text


def test_entries_of_a_page_are_replaced() -> None:
    once = measured.with_entries(HEAD, [SHOWN], [SHOWN.page])
    assert once.startswith(HEAD)
    assert measured.with_entries(once, [SHOWN], [SHOWN.page]) == once
    assert measured.with_entries(once, [], [SHOWN.page]).strip() == HEAD.strip()


def test_the_shipped_file_is_as_it_would_be_written() -> None:
    text = measured.FILE.read_text(encoding="utf-8")
    assert measured.with_entries(text, [], []) == text


def test_however_many_claims_pass_they_are_read_again() -> None:
    all_pass = replace(SHOWN, claims={name: [ClaimOutcome.PASS] for name in NAMES})
    text = measured.with_entries(HEAD, [all_pass], [SHOWN.page])
    assert max(map(len, text.splitlines())) < 100
    known = read(text)
    assert all(str(known.expected(CELL, claim)) == "PASS" for claim in NAMES)


def test_other_pages_entries_stay_and_common_ones_appear_once() -> None:
    once = measured.with_entries(HEAD, [SHOWN], [SHOWN.page])
    newer = replace(SHOWN, page="newer.md", claims={"one-copy": [ClaimOutcome.PASS]})
    both = measured.with_entries(once, [newer], [newer.page])
    assert str(read(both).expected(CELL, "one-copy")) == "PASS or FAIL"
    assert str(read(both).expected(CELL, "nothing-corrupt")) == "PASS or FAIL"
    assert both.count("one-copy") == 1
    assert both.index("newer.md") < both.index("a-page.md")


def test_entries_common_to_two_named_pages_appear_once() -> None:
    twin = replace(SHOWN, page="twin.md", claims={"one-copy": [ClaimOutcome.PASS]})
    text = measured.with_entries(HEAD, [SHOWN, twin], [SHOWN.page, twin.page])
    assert str(read(text).expected(CELL, "one-copy")) == "PASS or FAIL"
    assert "twin.md" not in text


def test_a_handwritten_entry_is_refused_with_its_location() -> None:
    once = measured.with_entries(HEAD, [SHOWN], [SHOWN.page])
    own = once.replace("results/published/a-page.md, 3 runs", "I know it")
    with pytest.raises(PlanError, match="'I know it'"):
        measured.with_entries(own, [], [])


@pytest.mark.parametrize("page", made_pages())
def test_expectations_know_what_published_runs_showed(page: Path) -> None:
    assert not [*measured.shown(pages.read(page), measured.known())]
