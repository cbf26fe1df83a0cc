"""A browser for all that people see."""

import os
from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium, found

HOW = "no Chromium here: apt-get install -y --no-install-recommends chromium fonts-dejavu-core"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """Skips with the reason where there is none; where CI promised it, that is a failure."""
    program = found()
    if program is None:
        if os.environ.get("MQPROOF_REQUIRE_BROWSER"):
            pytest.fail(HOW)
        pytest.skip(HOW)
    with Chromium(program, tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium
