"""The documentation's reference of keys is what the models of TOML files say."""

from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from harness.plan.clients.registry import registry as clients
from harness.plan.files.shape import PhasesTable, ScenarioTable
from tests.rigs.pages.key_page import page, tables

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = [section.shape for section in clients().sections.values()]


def test_the_page_is_what_the_models_say() -> None:
    assert (DOCS / "keys.md").read_text("utf-8") == page(), "see the head of key_page.py"


@pytest.mark.parametrize("model", SECTIONS)
def test_an_example_is_the_default(model: type[BaseModel]) -> None:
    written = {key: f.examples[0] for key, f in model.model_fields.items() if f.examples}
    assert written
    assert dict(model.model_validate(written)) == dict(model())


def test_lengths_have_their_units() -> None:
    (text,) = [part for part in tables(PhasesTable) if "`settle`" in part]
    row = "| `settle` | length of time, also in T | `0.5 T, at least 5 s` |"
    assert row in text


def test_every_table_of_a_file_has_a_heading() -> None:
    text = "\n".join(tables(ScenarioTable))
    titles = [line for line in text.splitlines() if line.startswith("### ")]
    assert titles == [
        "### Top level",
        "### `[workload]`",
        "### `[[fault]]`",
        "### `[[operation]]`",
        "### `[phases]`",
    ]


def test_a_key_without_a_description_is_refused() -> None:
    class _Silent(BaseModel):
        key: int = Field(1)

    with pytest.raises(AssertionError, match="key: no description"):
        list(tables(_Silent))
