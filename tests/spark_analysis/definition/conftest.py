"""Every story that is told to the definition is told to the kernels too, and they must agree."""

import pytest

from tests.both_judges import costs_by_both, judged_by_both


@pytest.fixture(autouse=True)
def both_judges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    costs_alone = hasattr(request.module, "costs")
    name, both = ("costs", costs_by_both) if costs_alone else ("judge", judged_by_both)
    monkeypatch.setattr(request.module, name, both)
