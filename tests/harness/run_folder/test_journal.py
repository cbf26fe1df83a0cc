"""A journal is readable whatever became of the process that wrote it."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.core.model import Armed
from faults.kinds import KINDS
from harness.run_folder.journal import (
    Journal,
    JournalError,
    armed_to_json,
    read,
    standing,
)
from tests.rigs.clusters.fault_world import (
    ALARMS,
    CLIENTS,
    OPTIONS_OF,
    compiled_fault,
    like_erlang,
)

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["armed", "undone"]), st.sampled_from(sorted(KINDS)), st.integers(1, 4)
    ),
    max_size=12,
)


def fault(kind: str = "kill", window: int = 1, returns: bool = True) -> Armed:
    hosts = ("rmq1", "rmq2", "rmq3")
    role = 'master of "orders"\n'
    armed = compiled_fault(
        kind,
        "rmq2",
        hosts,
        ("a", "b"),
        target="master of orders",
        role=role,
        window=window,
        run="r",
        returns=returns,
        options=OPTIONS_OF[kind],
        clients=CLIENTS,
        serving=like_erlang(hosts),
        alarms=ALARMS,
    )
    # The journal has no ways of peers and no kind: the undo names what it undoes.
    kept = {field.name: getattr(armed, field.name) for field in fields(Armed)}
    return Armed(**{**kept, "serving": None})


def write(path: Path, events: list[tuple[str, str, int]]) -> None:
    journal = Journal(path)
    for event, kind, window in events:
        getattr(journal, event)(fault(kind, window))
    journal.close()


def model(events: list[tuple[str, str, int]]) -> list[Armed]:
    left: list[Armed] = []
    for event, kind, window in events:
        armed = fault(kind, window)
        if event == "armed":
            left = [*left, armed] if armed not in left else left
        else:
            left = [one for one in left if one != armed]
    return left


@given(EVENTS, st.data())
def test_a_torn_journal_keeps_its_whole_lines(
    events: list[tuple[str, str, int]], drawn: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        write(path, events)
        content = path.read_bytes()
        torn = content[: drawn.draw(st.integers(0, len(content)))]
        path.write_bytes(torn)
        whole = events[: torn.count(b"\n")]
        assert list(standing(read(path))) == model(whole)

        later = ("undone", "kill", 1)
        write(path, [later])  # heal goes on where the run was torn away
        assert list(standing(read(path))) == model([*whole, later])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("returns", [True, False])
def test_a_fault_survives_the_journal(tmp_path: Path, kind: str, returns: bool) -> None:
    armed = fault(kind, returns=returns or not KINDS[kind].may_stay)
    journal = Journal(tmp_path / "journal.jsonl", by="guardian")
    journal.armed(armed)
    (entry,) = read(tmp_path / "journal.jsonl")
    assert (entry.event, entry.armed, entry.by) == ("armed", armed, "guardian")


@pytest.mark.parametrize("line", [b"{}", b"[]", b'{"event": "armed"}', b"\xff", b""])
def test_a_foreign_line_is_an_error_and_names_its_place(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [("armed", "kill", 1)])
    with path.open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(JournalError, match=r"journal.jsonl, line 2"):
        read(path)


@pytest.mark.parametrize(
    "changes", [{"actions": ["x"]}, {"options": []}, {"window": [1]}, {"undo": [{}]}]
)
def test_a_line_of_wrong_types_is_an_error_and_names_its_place(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    path = tmp_path / "journal.jsonl"
    document = {"event": "armed", "by": "run", "armed": armed_to_json(fault()) | changes}
    path.write_text(json.dumps(document) + "\n")
    with pytest.raises(JournalError, match=r"journal.jsonl, line 1"):
        standing(read(path))


KILLED_WRITER = """
import os, signal, sys
from pathlib import Path
from tests.harness.run_folder.test_journal import fault
from harness.run_folder.journal import Journal
journal = Journal(Path(sys.argv[1]))
journal.armed(fault("partition", 3))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_armed_faults_are_on_disk_after_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", KILLED_WRITER, str(path)], cwd=root, check=False)
    assert ended.returncode == -9
    assert standing(read(path)) == (fault("partition", 3),)


def test_disk_that_refuses_a_line_keeps_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An `armed` that is not on record is not acted on; an undo is never held up."""
    journal = Journal(tmp_path / "journal.jsonl")
    journal.armed(fault("kill", 1))
    write = os.write

    def full(descriptor: int, content: bytes) -> int:
        if len(content) < 40:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, content[:-30])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left on device"):
            journal.armed(fault("kill", 2))
        journal.undone(fault("kill", 1))
    assert journal.doubt == f"{tmp_path / 'journal.jsonl'}: No space left on device"
    journal.undone(fault("kill", 1))
    journal.close()
    assert [(one.event, one.armed.window) for one in read(tmp_path / "journal.jsonl")] == [
        ("armed", 1),
        ("undone", 1),
    ]
