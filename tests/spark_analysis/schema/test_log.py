"""A worker's log, read while it is written."""

from pathlib import Path

import pytest

from spark_analysis.files import log
from spark_analysis.schema.tables import CLIENT_EVENTS
from tests.rigs.runs.log_rows import read_rows

READ = log._content


def test_a_row_read_during_writing_is_complete_or_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "worker-1"
    with log.LogWriter(folder) as writer:

        def said(detail: str) -> None:
            writer.append(CLIENT_EVENTS, 1, 100, "queries", 1, None, detail)
            writer.flush()

        def content_and_one_row_more(path: Path, record_bytes: int) -> bytes:
            read = READ(path, record_bytes)
            said(f"after {path.name}")
            return read

        said("first")
        monkeypatch.setattr(log, "_content", content_and_one_row_more)
        assert [row["detail"] for row in read_rows(folder, CLIENT_EVENTS)] == ["first"]
