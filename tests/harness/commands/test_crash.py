"""Where a traceback goes if there is little room, and what an interrupt of the start says."""

import tempfile
from pathlib import Path

import pytest

from harness.__main__ import main
from harness.commands import crash
from harness.deploy import doctor
from spark_analysis.engine import session
from spark_analysis.engine.failing import SparkFailed


@pytest.fixture
def _no_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none)


def test_a_traceback_goes_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = crash.keep("why", tmp_path / "file")
    assert kept is not None
    assert (kept.parent, kept.read_text()) == (tmp_path, "why")


@pytest.mark.usefixtures("_no_temporary_folder")
def test_without_a_temporary_folder_a_traceback_is_kept_all_the_same(tmp_path: Path) -> None:
    kept = crash.keep("why", tmp_path)
    assert kept is not None
    assert kept.read_text() == "why"
    (tmp_path / "file").write_text("")
    assert crash.keep("why", tmp_path / "file") is None


@pytest.mark.usefixtures("_no_temporary_folder")
def test_without_a_temporary_folder_a_client_cannot_be_queried() -> None:
    found = doctor._look_result("no_such_module")
    assert found["package"] == ""
    assert "No usable temporary directory" in found["refused"]


@pytest.mark.usefixtures("_no_temporary_folder")
def test_without_a_temporary_folder_spark_says_why_it_did_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(where: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session, "_prepare_environment", refused)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    with pytest.raises(SparkFailed, match="No space left on device"):
        session.session()


def test_an_interrupt_while_it_loads_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.main", interrupted)
    assert main() == 130
    assert capsys.readouterr().err == "mqproof: interrupted\n"
