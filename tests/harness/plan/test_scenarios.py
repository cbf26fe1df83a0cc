"""The scenarios that come with mqproof: each can be played, and stands in the folder's table."""

import pytest

from harness.plan.applicability import obstacles
from harness.report.asking import layouts, scenario, scenario_names, systems
from tests.benchmarks.nightly_matrix import rows_of_table

SYSTEMS, LAYOUTS = systems(), layouts()
ROWS = tuple(rows_of_table())


def test_the_table_names_every_scenario_and_no_other() -> None:
    named = {name for names, _ in ROWS for name in names}
    assert named == set(scenario_names())


def test_every_layout_of_the_table_is_one_that_some_system_has() -> None:
    named = {layout for _, found in ROWS for layout in found}
    assert named <= {layout.name for layout in LAYOUTS}


@pytest.mark.parametrize(("names", "wanted"), [row for row in ROWS if row[1]])
def test_a_scenario_can_be_played_on_the_layouts_that_its_row_names(
    names: list[str], wanted: list[str]
) -> None:
    (real,) = (one for one in SYSTEMS if one.name == "rabbitmq-mirrored")
    own = {one.name: one for one in LAYOUTS if one.system == real.name and one.profile == "T=10"}
    against = {
        (name, layout): obstacles(scenario(name), real, own[layout], "pika", "compose")
        for name in names
        for layout in wanted
        if not (name == "add-node") ^ (layout == "all-automatic-spare")
    }
    assert against
    assert not {cell: reasons for cell, reasons in against.items() if reasons}


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_fits_some_layout_of_a_system(name: str) -> None:
    one = scenario(name)
    assert any(
        not obstacles(one, system, layout, "pika", "compose")
        for system in SYSTEMS
        for layout in LAYOUTS
        if layout.system == system.name
    )
