"""What the catalogue holds is counted by generated pages, and by no sentence: those grow old."""

import re
from pathlib import Path

import pytest

NUMBERS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", r"\d+"),
)
COUNTED = re.compile(
    rf"\b({'|'.join(NUMBERS)}) (systems\b(?! side)|scenarios|layouts|fault kinds|more:)",
    re.IGNORECASE,
)
PAGES = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").glob("*.md"))]


def counts(text: str) -> list[str]:
    """Return every phrase that counts what the catalogue holds."""
    generated = text.split("; a test compares.*")
    return [] if len(generated) > 1 else [found.group(0) for found in COUNTED.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_sentence_counts_the_catalogue(page: Path) -> None:
    assert not counts(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text", ["Six systems stand under test", "and some forty more: `x`", "70 scenarios in all"]
)
def test_a_sentence_that_counts_is_found(text: str) -> None:
    assert counts(text)
