"""The output of a session in which tests are repeated."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_S = 60.0
TESTS = """
import pytest

pytestmark = pytest.mark.slow
ATTEMPTS = iter(("first", "second"))


def test_that_fails_twice():
    attempt = next(ATTEMPTS)
    print(f"printed by the {attempt} attempt")
    assert attempt == "no attempt"


def test_that_passes():
    print("printed by a test that passes")
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_first_failure_of_a_repeated_test_is_printed(workers: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    options = ("-n", workers, "-q", "-p", "tests.conftest", "-p", "no:cacheprovider")
    own = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *own, str(tmp_path)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "XDIST" not in name},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    _, _, section = done.stdout.partition("= first attempts that failed =")
    section = section.partition("= short test summary info =")[0]
    assert "test_it.py::test_that_fails_twice ____" in section, done.stdout + done.stderr
    assert 'assert attempt == "no attempt"' in section
    assert "printed by the first attempt" in section
    assert "printed by the second attempt" not in section
    assert "printed by a test that passes" not in section
