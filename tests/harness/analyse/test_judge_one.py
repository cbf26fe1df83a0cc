"""A run that is judged at once, before the others: as Spark judges them all, later."""

from dataclasses import replace
from pathlib import Path

from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import judge_one
from harness.plan.fault_properties import properties_of
from harness.run_folder.journal import JOURNAL, Journal
from harness.run_folder.manifest import NAME, SEALED
from spark_analysis.files.failed import Failed
from spark_analysis.schema.facts import Window
from tests.rigs.runs.judged_runs import crash, manifest_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.run_folders import write_run


def test_a_sealed_run_has_its_findings(tmp_path: Path) -> None:
    facts, rows = crash(lost=[30], every_ms=500).build()
    names = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    facts = replace(facts, run="r-1", **names)
    folder = write_run(tmp_path / "r-1", facts, rows)
    replace(manifest_of(facts, phase=SEALED), facts=facts.to_json()).save(folder)
    found = judge_one(folder)
    assert isinstance(found, JudgedRun)
    assert [row.count for row in found.findings.counts if row.measure == "lost"] == [1]
    assert found.facts.run == "r-1"


def test_an_older_run_is_judged_without_faults_that_never_began(tmp_path: Path) -> None:
    """The journal proves it: the seal put it among the faults of the run."""
    facts, rows = crash(lost=[30], every_ms=500).build()
    kill = properties_of("kill")
    assert kill is not None
    never = Window.planned(2, "kill", facts.windows[0].origin_ns, "not begun", kill)
    names = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    facts = replace(facts, run="r-1", windows=(*facts.windows, never), **names)
    folder = write_run(tmp_path / "r-1", facts, rows)
    older = {key: value for key, value in facts.to_json().items() if key != "not_begun"}
    changes = {"phase": SEALED, "windows": [*facts.windows]}
    replace(manifest_of(facts, **changes), facts=older).save(folder)
    assert attributed(folder) == {"1,2"}  # without a journal it counts as a fault
    Journal(folder / JOURNAL).close()
    assert attributed(folder) == {"1"}


def attributed(folder: Path) -> set[str]:
    """Return the faults that may have caused what was lost."""
    found = judge_one(folder)
    assert isinstance(found, JudgedRun)
    return {row.windows for row in found.findings.attributions if row.measure == "lost"}


def test_a_run_that_recorded_nothing_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "r-1").mkdir()
    path = tmp_path / "r-1" / NAME
    assert judge_one(tmp_path / "r-1") == Failed("r-1", f"{path} is gone", "")


def test_state_of_unknown_types_is_not_judged(tmp_path: Path) -> None:
    facts, rows = crash(every_ms=500).build()
    facts = replace(facts, run="r-1")
    folder = write_run(tmp_path / "r-1", facts, rows)
    names = {name: getattr(facts, name) for name in ("scenario", "system", "layout", "client")}
    state = {"copies": "three", "confirms": {}, "windows": {"one": {}, "2": {"fault_kind": 7}}}
    changes = {**names, "phase": SEALED, "state": state}
    replace(manifest_of(facts, **changes), facts=facts.to_json()).save(folder)
    found = judge_one(folder)
    assert isinstance(found, Failed)
    assert found.trace == ""
    for part in (
        f"{folder / NAME} is no manifest of ours: state.copies: 'three' is not float",
        "state.confirms: {} has no reason why it is not applicable",
        "state.windows.one: it is not the number of a window",
        "state.windows.2.fault_kind: 7 is not str",
    ):
        assert part in found.reason
