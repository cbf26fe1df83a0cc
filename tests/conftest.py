"""What holds for every test."""

import pytest
from hypothesis import HealthCheck, settings

# How long one example takes tells of the machine, not of the code.
settings.register_profile("mqproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mqproof")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A real broker may crash on its own account, and spoil a test that is right.

    Such a test is played once more before it counts as failed; the summary tells each as RERUN.
    Verdicts over recorded histories, and all that we wrote ourselves, get no second chance.
    """
    for item in items:
        if item.get_closest_marker("docker"):
            item.add_marker(pytest.mark.flaky(reruns=1))
