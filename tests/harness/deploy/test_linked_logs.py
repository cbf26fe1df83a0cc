"""Logs of workers whose container does not mount the run's folder."""

import shutil
from pathlib import Path

import pytest

from harness.deploy.standing.in_containers import LinkedLogs
from harness.run_folder.seal import log_folders


def test_logs_are_linked_during_a_run_and_moved_after_it(tmp_path: Path) -> None:
    run = tmp_path / "results" / "experiment-1" / "runs" / "master-crash-1"
    logs = run / "logs"
    logs.mkdir(parents=True)
    (logs / "harness").mkdir()
    linked = LinkedLogs(tmp_path / "mounted")
    kept = linked.folder(logs, "publisher-1")
    assert kept.is_relative_to(tmp_path / "mounted")
    kept.mkdir()
    (kept / "0.log").write_text("attempt")
    assert [one.name for one in log_folders(run)] == ["harness", "publisher-1"]
    linked.collect(logs)
    assert not (logs / "publisher-1").is_symlink() and not kept.exists()
    assert (logs / "publisher-1" / "0.log").read_text() == "attempt"


def test_a_worker_that_never_logged_leaves_no_link(tmp_path: Path) -> None:
    logs = tmp_path / "experiment-1" / "runs" / "one" / "logs"
    logs.mkdir(parents=True)
    linked = LinkedLogs(tmp_path / "mounted")
    linked.folder(logs, "drainer-1")
    linked.collect(logs)
    assert list(logs.iterdir()) == []


def test_a_link_stays_until_its_logs_are_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "experiment-1" / "runs" / "one" / "logs"
    logs.mkdir(parents=True)
    linked = LinkedLogs(tmp_path / "mounted")
    kept = linked.folder(logs, "publisher-1")
    kept.mkdir()
    (kept / "0.log").write_text("attempt")

    def full(_: Path, moved: Path) -> None:
        moved.mkdir()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "move", full)
        with pytest.raises(OSError, match="No space left"):
            linked.collect(logs)
    assert (logs / "publisher-1" / "0.log").read_text() == "attempt"
    linked.collect(logs)
    assert not (logs / "publisher-1").is_symlink() and not kept.exists()
    assert (logs / "publisher-1" / "0.log").read_text() == "attempt"
