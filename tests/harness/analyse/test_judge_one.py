"""A run that is judged at once, before the others: as Spark judges them all, later."""

from dataclasses import replace
from pathlib import Path

from harness.analyse.marts import judge_one
from harness.run_folder.manifest import SEALED
from tests.reports import CELL
from tests.run_folders import write_run
from tests.told_runs import crash, manifest_of


def test_a_sealed_run_has_its_findings(tmp_path: Path) -> None:
    facts, rows = crash(lost=[30], every_ms=500).build()
    names = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    facts = replace(facts, run="r-1", **names)
    folder = write_run(tmp_path / "r-1", facts, rows)
    replace(manifest_of(facts, phase=SEALED), facts=facts.to_json()).save(folder)
    found = judge_one(folder)
    assert found is not None
    assert [row.count for row in found.findings.counts if row.measure == "lost"] == [1]
    assert found.facts.run == "r-1"


def test_a_run_that_recorded_nothing_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "r-1").mkdir()
    assert judge_one(tmp_path / "r-1") is None
