"""The journal, and nothing else, proves that a planned fault never began."""

from dataclasses import asdict, replace
from pathlib import Path

from harness.plan.fault_properties import properties_of
from harness.run_folder.journal import JOURNAL, Journal
from harness.run_folder.manifest import Manifest
from harness.run_folder.never_begun import never_begun
from harness.run_folder.seal import seal
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.words import ProblemCause
from tests.harness.run_folder.test_journal import fault
from tests.rigs.runs.manifests import manifest

_KILL = properties_of("kill")
assert _KILL is not None
PLANNED = Window.planned(2, "kill", 5, "not begun", _KILL)


def journal(folder: Path, *windows: int, kind: str = "kill") -> Path:
    lines = Journal(folder / JOURNAL)
    for window in windows:
        lines.armed(fault(kind, window))
    lines.close()
    return folder


def test_a_fault_without_a_line_in_the_journal_never_began(tmp_path: Path) -> None:
    assert never_begun([PLANNED], journal(tmp_path, 1)) == {2}


def test_a_fault_that_the_journal_names_perhaps_began(tmp_path: Path) -> None:
    assert never_begun([PLANNED], journal(tmp_path, 1, 2)) == frozenset()


def test_a_line_of_another_kind_is_an_operations(tmp_path: Path) -> None:
    assert never_begun([PLANNED], journal(tmp_path, 2, kind="stop")) == {2}


def test_without_a_readable_journal_nothing_is_proved(tmp_path: Path) -> None:
    assert never_begun([PLANNED], tmp_path) == frozenset()
    (tmp_path / JOURNAL).write_text("no line of ours\n")
    assert never_begun([PLANNED], tmp_path) == frozenset()


def test_a_verified_fault_began_whatever_the_journal_says(tmp_path: Path) -> None:
    assert never_begun([replace(PLANNED, verified=True)], journal(tmp_path)) == frozenset()


def test_a_sealed_run_keeps_it_apart_from_its_faults(tmp_path: Path) -> None:
    run = manifest()
    run.windows, run.interrupted = [PLANNED], True
    run.save(journal(tmp_path))
    sealed = seal(tmp_path)
    assert (sealed.windows, sealed.not_begun) == ([], [PLANNED])
    assert sealed.facts is not None
    facts = Facts.from_json(sealed.facts)
    assert (facts.windows, facts.not_begun) == ((), (PLANNED,))


def test_an_older_sealed_run_is_read_the_same_way(tmp_path: Path) -> None:
    run, first = manifest(), replace(PLANNED, number=1)
    run.windows, run.interrupted = [first], True
    run.save(tmp_path)
    seal(tmp_path)
    older = Manifest.load(tmp_path)  # without a journal it is a fault
    assert older.facts is not None
    assert older.facts["windows"] == [asdict(first)]
    del older.facts["not_begun"], older.facts["problem_cause"]
    older.save(journal(tmp_path))
    read = Manifest.load(tmp_path)
    assert (read.windows, read.not_begun) == ([], [first])
    assert read.facts is not None
    facts = Facts.from_json(read.facts)
    assert (facts.not_begun, facts.problem_cause) == ((first,), ProblemCause.INTERRUPTED)
