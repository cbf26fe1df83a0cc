"""The sample files of docs/scenarios.md and docs/external.md parse and have every key."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from harness.cli import main
from harness.plan.clients.amqp_section import AmqpTable
from harness.plan.files import shape
from harness.plan.files.toml import read_scenario

DOCS = Path(__file__).parents[2] / "docs"
SCENARIOS, EXTERNAL = (
    (DOCS / f"{name}.md").read_text("utf-8") for name in ("scenarios", "external")
)
TABLES: Mapping[str, type[BaseModel]] = {
    "`[workload]`": shape.WorkloadTable,
    "`[workload.amqp]`": AmqpTable,
    "`[phases]`": shape.PhasesTable,
}


def toml_blocks(page: str) -> list[str]:
    """Return the TOML files of a page."""
    return re.findall(r"(?ms)^```toml\n(.*?)^```$", page)


def test_the_complete_file_parses() -> None:
    scenario = read_scenario("complete", toml_blocks(SCENARIOS)[0])
    assert [fault.kind.name for fault in scenario.faults] == ["freeze", "hang"]


@pytest.mark.parametrize("title", TABLES)
def test_the_complete_file_has_every_key_of_its_tables(title: str) -> None:
    table: dict[str, Any] = tomllib.loads(toml_blocks(SCENARIOS)[0])
    for key in title.strip("`[]").split("."):
        table = table[key]
    assert TABLES[title].model_fields.keys() <= table.keys()


@pytest.mark.parametrize("system", ["rabbitmq-mirrored", "reference-mirrored", "rocketmq-2m2s"])
def test_the_complete_file_passes_the_dry_run(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("complete.toml").write_text(toml_blocks(SCENARIOS)[0])
    assert main(["run", "complete.toml", "--system", system, "--dry-run"]) == 0


def test_the_layout_of_the_page_passes_the_dry_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-layout.toml").write_text(toml_blocks(SCENARIOS)[1])
    layout = ["--layout", "./my-layout.toml@T=10"]
    assert main(["run", "cut-one-node", *layout, "--dry-run"]) == 0


@pytest.mark.parametrize("scenario", ["client-link-hang", "master-crash", "master-black-hole"])
@pytest.mark.parametrize("sample", toml_blocks(EXTERNAL), ids=("rabbitmq", "rocketmq"))
def test_the_sample_topology_passes_the_dry_run(
    sample: str, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("staging.toml").write_text(sample)
    assert main(["run", scenario, "--topology", "staging.toml", "--dry-run"]) == 0
