"""What modules say of themselves in their heads is what import contracts hold them to."""

import ast
import graphlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("harness", "faults", "reference_impl", "spark_analysis")
MAPPED = (
    "faults",
    "harness.analyse",
    "harness.campaigns",
    "harness.claims",
    "harness.compare",
    "harness.nightly",
    "harness.run",
    "harness.view",
    "reference_impl",
    "spark_analysis",
)
# The first paragraph says so, or one of the numbered rules begins with it.
CLAIM = re.compile(r"\A(?:.+\n)*?.*\b(?:pure|sans-io)\b|^\d+\. Pure\b", re.I | re.M)


def contracts() -> list[dict[str, Any]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["tool"]["importlinter"]["contracts"])


def named(beginning: str) -> list[dict[str, Any]]:
    found = [it for it in contracts() if str(it["name"]).startswith(beginning)]
    assert found, beginning
    return found


def modules() -> dict[str, Path]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {module_of(path): path for path in paths}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def head_of(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def imported(path: Path, known: frozenset[str]) -> set[str]:
    """The modules of ours that one imports, also those that it needs for its types only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{each.name}" for each in node.names}
            found |= names & known or {node.module}
    return (found & known) - {module_of(path)}


def is_within(module: str, entry: str) -> bool:
    """A contract's entry: a module with all that lies in it; `*` is one name, `**` several."""
    pattern = re.escape(entry).replace(r"\*\*", ".+").replace(r"\*", "[^.]+")
    return re.fullmatch(rf"{pattern}(\..+)?", module) is not None


def is_held(module: str, contract: dict[str, Any]) -> bool:
    """Whether the contract holds a module, and ignores none of its imports."""
    importers = [it.partition(" -> ")[0] for it in contract.get("ignore_imports", ())]
    held = any(is_within(module, entry) for entry in contract["source_modules"])
    return held and not any(is_within(module, importer) for importer in importers)


def claims(head: str) -> bool:
    return CLAIM.search(head) is not None


@pytest.mark.parametrize(
    ("head", "does"),
    [
        ("PURE: a layout becomes text.", True),
        ("A drawing: places and\npaths, pure.", True),
        ("A parser. Sans-IO.", True),
        ("Clocks.\n\n1. Pure: samples in, a doubt out.", True),
        ("Pacing.\n\n1. Due is due.\n2. Pure.", True),
        ("Subnets.\n\n1. Choosing is pure; looking around is separate.", False),
        ("Files.\n\n2. Read here, so that plan stays pure.", False),
        ("Executors.\n\n`filter`  PURE: commands", False),
    ],
)
def test_a_module_claims_purity_for_itself_or_not_at_all(head: str, does: bool) -> None:
    assert claims(head) is does


def test_every_module_that_claims_purity_is_checked_for_it() -> None:
    pure = named("Pure modules")
    claiming = [name for name, path in modules().items() if claims(head_of(path))]
    assert len(claiming) > 30, "the heads are read as they are written"
    unheld = [name for name in claiming if not any(is_held(name, it) for it in pure)]
    assert sorted(unheld) == []


def test_purity_is_said_by_folder() -> None:
    packages = {name for name, path in modules().items() if path.stem == "__init__"}
    entries = [name for it in named("Pure modules") for name in it["source_modules"]]
    single = [name for name in entries if "*" not in name and name not in packages]
    assert single == []


def test_pure_modules_are_all_kept_from_the_same_things() -> None:
    forbidden = [it["forbidden_modules"] for it in named("Pure modules")]
    assert all(it == forbidden[0] for it in forbidden)


@pytest.mark.parametrize(
    "package",
    [
        name
        for name, path in modules().items()
        if path.stem == "__init__" and name.startswith(MAPPED)
    ],
)
def test_the_map_of_a_package_shows_every_module(package: str) -> None:
    head = head_of(modules()[package])
    parts = {
        name.removeprefix(f"{package}.") for name in modules() if name.startswith(f"{package}.")
    }
    missing = [part for part in parts if "." not in part and not re.search(rf"\b{part}\b", head)]
    assert sorted(missing) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = modules()
    graph = {name: imported(path, frozenset(found)) for name, path in found.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names them
    assert graph["reference_impl.rocketmq.broker.delays"] >= {
        "reference_impl.rocketmq.broker.parts"
    }


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/oracle").glob("*.py")), ids=lambda p: p.stem
)
def test_the_oracle_shares_nothing_with_the_engine_but_the_schema(path: Path) -> None:
    pure = {"bisect", "collections", "dataclasses", "enum", "itertools", "math", "statistics"}
    allowed = pure | {"collections.abc", "functools", "typing"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Import) or {each.name for each in node.names} <= allowed
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert module in allowed or module.startswith(
                ("spark_analysis.schema", "tests.oracle")
            )
