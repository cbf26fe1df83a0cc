"""What mutants are made of and tried by is there: a part that names what is gone kills nothing."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = tomllib.loads((Path(__file__).parent / "parts.toml").read_text())


def test_each_part_names_modules_and_tests_that_are_there() -> None:
    named = {
        path
        for part in PARTS.values()
        for path in (*part["modules"], *part.get("without", ()), *part["tests"])
    }
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_each_part_loads_afresh_what_it_mutates() -> None:
    for name, part in PARTS.items():
        for module in part["modules"]:
            dotted = module.removesuffix(".py").replace("/", ".")
            assert any(f"{dotted}.".startswith(f"{one}.") for one in part["reload"]), (
                name,
                module,
            )
