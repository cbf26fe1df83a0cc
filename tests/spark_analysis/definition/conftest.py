"""Every story that is told to the definition is told to the kernels too, and they must agree."""

import pytest

from tests.both_judges import judged_by_both


@pytest.fixture(autouse=True)
def both_judges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request.module, "judge", judged_by_both)
