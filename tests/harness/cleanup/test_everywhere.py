"""`mqproof heal`: what it says if nothing is there to be cleaned up."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cleanup import everywhere
from harness.cleanup.heal import Projects


def test_heal_says_that_nothing_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_projects(say: everywhere.Say) -> Iterator[Projects]:
        yield from ()

    monkeypatch.setattr(everywhere, "_everywhere", no_projects)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    assert asyncio.run(everywhere.heal_all(said.append))
    assert said == ["nothing was left behind"]
