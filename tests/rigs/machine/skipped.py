"""A plugin of pytest by which a second machine runs what the first one had to skip.

    pytest -p tests.rigs.machine.skipped --skipped-to FILE      here
    pytest -p tests.rigs.machine.skipped --no-skips @FILE       there

1. FILE gets the name of each skipped test, one a line. Where a whole module is skipped, it gets
   the module. A test can stand there twice: workers of pytest-xdist write beside each other.
2. With `--no-skips` a skipped test is a failure: it would have run nowhere.
3. pytest-xdist appends the group of a test to its name. FILE has the name without it.
"""

import os
from pathlib import Path

import pytest

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("skipped")
    group.addoption("--skipped-to", metavar="FILE", help="append the names of skipped tests")
    group.addoption("--no-skips", action="store_true", help="fail if a test is skipped")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("skipped_to")
    has_workers = bool(config.getoption("numprocesses", None)) and not IS_WORKER
    if file and not has_workers:  # else its workers write
        config.pluginmanager.register(SkippedTo(Path(file).absolute()))
    if config.getoption("no_skips") and not IS_WORKER:
        config.pluginmanager.register(NoSkips())


class SkippedTo:
    """Writes names to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(f"{plain(report.nodeid)}\n")


class NoSkips:
    """Makes a session fail in which a test was skipped."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._names.append(plain(report.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._names and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._names:
            terminalreporter.section("skipped, but skips are not allowed here")
            terminalreporter.write_line("\n".join(self._names))


def plain(nodeid: str) -> str:
    """Return the name of a test without the group that pytest-xdist appended."""
    name, at, group = nodeid.rpartition("@")
    return name if at and "]" not in group else nodeid
