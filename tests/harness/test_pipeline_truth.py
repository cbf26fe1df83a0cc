"""What a report says of a misbehaving cluster's own account of itself."""

from pathlib import Path

import pytest

from harness.analyse.judged_run import JudgedRun
from harness.judging.result import RunReport
from harness.pipeline import performing, stored
from harness.pipeline.port import RunOptions
from harness.plan.misbehave import TRUTH, Misbehave
from harness.run_folder.manifest import Manifest
from reference_impl.misbehave.truth import admitted
from reference_impl.protocol.queues import Message
from spark_analysis.schema.body import Identity, encode
from tests.rigs.runs.findings import Story
from tests.rigs.runs.plans import plan

FRESH = RunReport("quick-1-00ff", ("quick", "s", "l", "c"), 1, 1, notes=("fresh cluster",))


def noted(folder: Path) -> tuple[str, ...]:
    manifest, story = Manifest.of(plan()), Story()
    return stored.with_truth(FRESH, JudgedRun(folder, manifest, story.facts, story.findings)).notes


def test_an_honest_run_has_nothing_to_say(tmp_path: Path) -> None:
    assert noted(tmp_path) == FRESH.notes


def test_admitted_misbehaviour_that_was_not_found_is_reported(tmp_path: Path) -> None:
    body = encode(Identity(plan().number, 1, 5, 1, 0, 0), 256)
    lines = admitted("redeliver", "orders", Message(b"", "", "orders", b"", body, True)).lines
    (tmp_path / TRUTH).mkdir()
    (tmp_path / TRUTH / "ref1.jsonl").write_bytes(lines)
    note = "truth: NOT EXACT: came again: 0 found, 1 to be found, missed [(1, 5)]"
    assert noted(tmp_path) == (*FRESH.notes, note)


@pytest.mark.parametrize("line", [b"no json\n", b'{"kind": "drop"}\n', b"[]\n"])
def test_unreadable_admissions_are_reported_and_hide_no_verdict(
    line: bytes, tmp_path: Path
) -> None:
    (tmp_path / TRUTH).mkdir()
    (tmp_path / TRUTH / "ref1.jsonl").write_bytes(line)
    (_, note) = noted(tmp_path)
    assert note.startswith("truth: cannot be read: ")


def test_a_manifest_says_that_its_nodes_misbehaved(tmp_path: Path) -> None:
    wrong = RunOptions(tmp_path, misbehave=Misbehave("drop", 0.01, 7))
    assert performing.misbehaving(wrong) == {"misbehave": "drop:0.01"}
    assert performing.misbehaving(RunOptions(tmp_path)) == {}
