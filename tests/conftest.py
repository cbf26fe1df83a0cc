"""What holds for every test."""

import pytest
from hypothesis import HealthCheck, settings

# How long one example takes tells of the machine, not of the code.
settings.register_profile("mqproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mqproof")


@pytest.fixture(autouse=True)
def _no_state_of_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing that a test heals is anybody's, and what it leaves is found by no healing."""
    folder = tmp_path_factory.getbasetemp() / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
