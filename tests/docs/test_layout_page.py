"""docs/layouts.md: made from the catalogue, so that no list of it is out of date."""

from pathlib import Path

import pytest

from harness.systems.catalogue import layout_names
from tests.rigs.pages.layout_page import guide, page

PAGE = Path("docs/layouts.md")


def test_the_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "its head has the command that makes it"


@pytest.mark.parametrize(("question", "systems", "names"), [*guide()])
def test_every_system_of_a_question_has_its_layouts(
    question: str, systems: list[str], names: list[str]
) -> None:
    for system in systems:
        known = {label.partition("@")[0] for label in layout_names(system)}
        assert {*names} <= known, question
