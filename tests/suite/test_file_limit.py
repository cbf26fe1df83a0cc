"""A limit on the size of files leaves no half-written `.pyc` for later processes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rigs.machine.file_limit import child_with_small_files, small_files

TESTS = Path(__file__).parents[1]
RIG = TESTS / "rigs/machine/file_limit.py"
LIMIT_BYTES = 20_000
IMPORT = "import large_module, sys; sys.exit(large_module.LAST)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a module whose `.pyc` is stored beside it, beyond the limit."""
    values = "\n".join(f"value_{number} = 'value {number}'" for number in range(LIMIT_BYTES // 20))
    (tmp_path / "large_module.py").write_text(f"{values}\nLAST = 42\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return tmp_path


def import_in_child(**how: Any) -> tuple[int, str]:
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    return done.returncode, done.stderr


@pytest.mark.slow
def test_a_child_with_small_files_spoils_no_later_import(folder: Path) -> None:
    limited = import_in_child(**child_with_small_files(LIMIT_BYTES))
    assert [limited, import_in_child(), import_in_child()] == [(42, "")] * 3
    (stored,) = folder.rglob("*.pyc")
    assert stored.stat().st_size > LIMIT_BYTES, "the limit would not have cut it"


def test_a_process_with_small_files_stores_no_bytecode_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with small_files(LIMIT_BYTES):
        assert sys.dont_write_bytecode
    assert not sys.dont_write_bytecode


def test_only_the_rig_limits_files() -> None:
    word = "RLIMIT_" + "FSIZE"
    assert [path for path in TESTS.rglob("*.py") if word in path.read_text()] == [RIG]
