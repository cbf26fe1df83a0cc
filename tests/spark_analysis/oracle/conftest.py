"""Every story runs through the oracle and the vectorised checkers, which must agree."""

import pytest

from tests.rigs.histories.both_judges import (
    costs_by_both,
    judged_by_both,
    sends_by_both,
    views_by_both,
)

BOTH = {
    "judge": judged_by_both,
    "costs": costs_by_both,
    "sends": sends_by_both,
    "views": views_by_both,
}


@pytest.fixture(autouse=True)
def both_judges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    judges = [name for name in BOTH if hasattr(request.module, name)]
    # A story of costs judges its history, too, but by both on its own.
    for name in ["costs"] if "costs" in judges else judges:
        monkeypatch.setattr(request.module, name, BOTH[name])
    assert judges, "no oracle judges this story"
