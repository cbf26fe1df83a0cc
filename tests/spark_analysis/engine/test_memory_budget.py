"""What memory a task may take: what it was reported, else its share of the machine's."""

import os
from pathlib import Path

import pytest

from spark_analysis.engine import tasks

GIB = 1 << 30


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """One of four cores and 64 GiB; the file in which a container's limit stands."""
    sizes = {"SC_PHYS_PAGES": 64 * GIB // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(tasks, "_LIMIT", tmp_path / "memory.max")
    return tmp_path / "memory.max"


def test_a_task_alone_may_take_a_quarter_of_memory() -> None:
    assert tasks.of_task(0, 4) == 16 * GIB


def test_tasks_beside_each_other_share_that_quarter() -> None:
    assert tasks.of_task(0, 2) == 8 * GIB
    assert tasks.of_task(0, 8) == 16 * GIB  # the cores of several machines


def test_the_memory_budget_always_fits_forty_million_rows() -> None:
    assert tasks.of_task(0, 0) == tasks.LEAST == 3 * GIB


def test_an_explicit_budget_overrides_the_measured_one() -> None:
    assert tasks.of_task(GIB, 4) == GIB


def test_a_container_has_what_its_limit_says(machine: Path) -> None:
    machine.write_text(f"{20 * GIB}\n")
    assert tasks.of_machine() == 20 * GIB
    machine.write_text("max\n")
    assert tasks.of_machine() == 64 * GIB
