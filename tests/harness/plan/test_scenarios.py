"""The scenarios that come with mqproof: each can be played, and stands in the folder's table."""

from pathlib import Path

import pytest

from harness.plan.applicability import obstacles
from harness.report.asking import layouts, scenario, scenario_names, systems
from tests.benchmarks.nightly_matrix import rows_of_table

SYSTEMS, LAYOUTS = systems(), layouts()
ROWS = tuple(rows_of_table())
README = " ".join((Path(__file__).parents[3] / "README.md").read_text().split())


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


def unfit(system: str, *deployments: str) -> list[str]:
    """The scenarios that fit no layout of a system under these deployments."""
    (one,) = (each for each in SYSTEMS if each.name == system)
    cells = [(each, by) for each in LAYOUTS if each.system == system for by in deployments]
    return [
        name
        for name in scenario_names()
        if all(obstacles(scenario(name), one, layout, "pika", by) for layout, by in cells)
    ]


def test_the_readme_names_the_scenarios_that_need_rabbitmq_and_those_that_need_docker() -> None:
    alone = unfit("reference-mirrored", "compose", "local")
    *names, last = (f"`{name}`" for name in sorted(alone))
    assert f"On RabbitMQ alone run {', '.join(names)} and {last}." in README
    (in_containers,) = set(unfit("reference-mirrored", "local")) - set(alone)
    assert f"runs every scenario but those of RabbitMQ alone and `{in_containers}`" in README
    assert unfit("rabbitmq-mirrored", "compose") == []


def test_the_readme_names_the_layouts_that_only_rabbitmq_has() -> None:
    own = {
        system.name: {layout.name for layout in LAYOUTS if layout.system == system.name}
        for system in SYSTEMS
    }
    (spare,) = own["rabbitmq-mirrored"] - own["reference-mirrored"]
    assert f"RabbitMQ alone has a spare host (`{spare}`)" in README
    assert own["reference-mirrored"] <= own["rabbitmq-mirrored"]
    (reference,) = (each for each in SYSTEMS if each.name == "reference-mirrored")
    handlings = " or ".join(f"`{name}`" for name in reference.cannot_handle)
    assert f"and handles a partition by {handlings}" in README
