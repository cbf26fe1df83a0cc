"""Folders that have a map: one line a module, and no more modules than a reader takes in.

What tests of several folders share stands in the one for rigs, and is borrowed from no test.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAPPED = (
    *("harness/cluster", "harness/deploy", "harness/plan", "harness/run", "harness/systems"),
    *("reference_impl/amqp", "spark_analysis/engine/kernel", "tests/rigs"),
)
MODULES_MAX = 20
FOLDERS = sorted(file.parent for part in MAPPED for file in (ROOT / part).rglob("__init__.py"))


def modules(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.py") if file.name != "__init__.py"}


def listed(folder: Path) -> set[str]:
    """What lines of the map begin with: `word   text`, and `word/   text` for a folder."""
    lines = (folder / "__init__.py").read_text(encoding="utf-8").splitlines()
    return {line.split("  ")[0] for line in lines if "  " in line}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_map_lists_every_module_and_folder_and_nothing_else(folder: Path) -> None:
    folders = {f"{file.parent.name}/" for file in folder.glob("*/__init__.py")}
    assert listed(folder) == modules(folder) | folders


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_folder_holds_more_modules_than_a_reader_takes_in(folder: Path) -> None:
    assert len(modules(folder)) <= MODULES_MAX


_BORROWED = re.compile(r"^ *from (tests(?:\.\w+)*)\.(test_\w+) import", re.MULTILINE)


def test_no_test_borrows_from_a_test_of_another_folder() -> None:
    borrowed = [
        f"{file.relative_to(ROOT)}: {found[0].strip()}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for found in _BORROWED.finditer(file.read_text(encoding="utf-8"))
        if found[1] != ".".join(file.relative_to(ROOT).parent.parts)
    ]
    assert borrowed == []


def test_one_rig_alone_starts_servers_of_rocketmq() -> None:
    files = (ROOT / "tests").rglob("*.py")
    mains = re.compile("(Namesrv|Broker)Start" + "up")
    starting = [file for file in files if mains.search(file.read_text(encoding="utf-8"))]
    assert starting == [ROOT / "tests" / "rigs" / "rocketmq" / "launcher.py"]
