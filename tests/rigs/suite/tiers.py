"""Report tests and seconds by tier, and how tests failed that were repeated.

The seconds of a tier are the sum over its tests. Workers run beside each other, so the whole run
takes less. CONTRIBUTING.md takes its table of tiers from this report.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

TIERS = ("nightly", "docker", "engine", "slow", "unit")  # the first that applies
REASON_MAX = 200
PROPERTY = "tier"


def mark_tier(item: pytest.Item) -> None:
    """Attach the tier to a test's reports: their keywords hold names of folders, too."""
    markers = {mark.name for mark in item.iter_markers()} | {"unit"}
    item.user_properties.append((PROPERTY, next(tier for tier in TIERS if tier in markers)))


class Tiers:
    """Counts tests and seconds by tier from reports."""

    def __init__(self) -> None:
        self._tests: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._failed_first: dict[str, str] = {}
        self._first_failures: dict[str, str] = {}
        self._passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        tier = dict(report.user_properties).get(PROPERTY)
        if tier is None:  # pytest-xdist reports a worker that crashed
            return
        assert isinstance(tier, str), tier
        self._seconds[tier] += report.duration  # type: ignore[assignment]
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]
            self._failed_first[report.nodeid] = reason(report)
            self._first_failures[report.nodeid] = failure(report)
        elif report.skipped:
            self._skipped[tier] += 1
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)
        if report.when == "teardown":
            self._tests[tier] += 1

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what `--collect-only` lists, since no report will come of it."""
        if session.config.option.collectonly:
            self._tests.update(str(dict(item.user_properties)[PROPERTY]) for item in session.items)

    def lines(self) -> Iterator[str]:
        for tier in reversed(TIERS):
            if self._tests[tier]:
                skipped = f", {self._skipped[tier]:,} skipped" if self._skipped[tier] else ""
                took = f", {self._seconds[tier]:.0f} s" if self._seconds[tier] else ""
                yield f"{tier}: {self._tests[tier]:,} tests{skipped}{took}"

    def repeated(self) -> Iterator[str]:
        """Tests that failed and then passed, each with the reason of its failure."""
        for nodeid, why in self._failed_first.items():
            if nodeid in self._passed:
                yield f"{nodeid}: {why}"

    def first_failures(self) -> Iterator[str]:
        """The failure of each first attempt, whole: pytest prints that of the last attempt."""
        for nodeid, text in self._first_failures.items():
            yield f"____ {nodeid} ____\n\n{text}\n"


def reason(report: pytest.TestReport) -> str:
    """The first line of what a failed test raised."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    lines = text.strip().splitlines()
    return lines[0][:REASON_MAX] if lines else "no reason was reported"


def failure(report: pytest.TestReport) -> str:
    """What pytest prints of a failed test: the traceback, and what was captured."""
    captured = [f"---- {title} ----\n{text}" for title, text in report.sections]
    return "\n".join([report.longreprtext, *captured])
