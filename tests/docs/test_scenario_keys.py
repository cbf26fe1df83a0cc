"""docs/scenarios.md and docs/external.md describe every key; their sample files parse."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from harness.cli import main
from harness.plan import shape, spans, topology_shape
from harness.plan.clients.amqp_section import AmqpTable
from harness.plan.clients.rocketmq_section import RocketTable
from harness.plan.model import BootstrapAddress, Duration
from harness.plan.toml import read_scenario
from harness.systems.rabbitmq_mirrored import topology_file

DOCS = Path(__file__).parents[2] / "docs"
SCENARIOS, EXTERNAL = (
    (DOCS / f"{name}.md").read_text("utf-8") for name in ("scenarios", "external")
)
TABLES: Mapping[str, type[BaseModel]] = {
    "Top level": shape.ScenarioTable,
    "`[workload]`": shape.WorkloadTable,
    "`[workload.amqp]`": AmqpTable,
    "`[workload.rocketmq]`": RocketTable,
    "`[[fault]]`": shape.FaultTable,
    "`[[operation]]`": shape.OperationTable,
    "`[phases]`": shape.PhasesTable,
}
FILE = topology_file.MirroredTopologyFile
BROKER = get_args(FILE.model_fields["broker"].annotation)[0]
OF_TOPOLOGY: Mapping[str, type[BaseModel]] = {
    "Top level": FILE,
    "`[credentials]`": topology_shape.CredentialsTable,
    "`[workers]`": topology_shape.WorkersTable,
    "`[queues]`": type(FILE.model_fields["queues"].default),
    "`[pause_if_all_down]`": get_args(FILE.model_fields["pause_if_all_down"].annotation)[0],
    "`[proxy]`": topology_shape.ProxyTable,
    "`[[broker]]`": BROKER,
    "`[broker.kill]`, `[broker.stop]`, `[broker.freeze]`": topology_shape.CommandTable,
}
LENGTHS = ("deadline",)  # their values are seconds
IN_OTHER_UNITS = ("heartbeat", "send_timeout", "latency", "rate", "bytes", "down", "up")


def rows(page: str, title: str) -> dict[str, str]:
    """Return the default of each key in the table under a title."""
    section = page.split(f"\n### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return dict(re.findall(r"(?m)^\| `([a-z_]+)` \| ([^|]+) \| [^|]+ \|$", section))


def toml_blocks(page: str) -> list[str]:
    """Return the TOML files of a page."""
    return re.findall(r"(?ms)^```toml\n(.*?)^```$", page)


def described(key: str, field: FieldInfo) -> str | None:
    """Return how a page must write the default; None if it is free to choose."""
    if field.is_required():
        return "required"
    match field.default:
        case bool():
            return f"`{str(field.default).lower()}`"
        case Duration():
            return f"`{spans.text(field.default)}`"
        case BootstrapAddress(word=word):
            return f"`{word}`"
        case int() | float() if key in LENGTHS:
            return f"`{field.default:g} s`"
        case int() if key not in IN_OTHER_UNITS:
            return f"`{field.default}`"
        case str() if field.default and key != "title":
            return f"`{field.default}`"
    return None


PAGES = [
    *(
        pytest.param(SCENARIOS, title, model, id=f"scenarios-{title}")
        for title, model in TABLES.items()
    ),
    *(
        pytest.param(EXTERNAL, title, model, id=f"external-{title}")
        for title, model in OF_TOPOLOGY.items()
    ),
]


@pytest.mark.parametrize(("page", "title", "model"), PAGES)
def test_a_page_describes_every_key(page: str, title: str, model: type[BaseModel]) -> None:
    assert rows(page, title).keys() == model.model_fields.keys()


@pytest.mark.parametrize(("page", "title", "model"), PAGES)
def test_a_page_names_the_default_of_each_key(
    page: str, title: str, model: type[BaseModel]
) -> None:
    fields = model.model_fields.items()
    expected = {key: text for key, field in fields if (text := described(key, field))}
    found = rows(page, title)
    assert {key: found[key] for key in expected} == expected


def test_the_complete_file_parses() -> None:
    scenario = read_scenario("complete", toml_blocks(SCENARIOS)[0])
    assert [fault.kind for fault in scenario.faults] == ["freeze", "hang"]


@pytest.mark.parametrize("title", ["`[workload]`", "`[workload.amqp]`", "`[phases]`"])
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


@pytest.mark.parametrize("scenario", ["client-link-hang", "master-crash"])
def test_the_sample_topology_passes_the_dry_run(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (sample,) = toml_blocks(EXTERNAL)
    Path("staging.toml").write_text(sample)
    assert main(["run", scenario, "--topology", "staging.toml", "--dry-run"]) == 0
