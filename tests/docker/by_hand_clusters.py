"""Clusters of `mqproof up` in containers, for the tests of a module; what they may not leave."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.by_hand import requests
from harness.by_hand.requests import KeptClusters
from harness.cli import main
from harness.deploy import engine, labels


@contextmanager
def up_by_hand(states: Path, *words: str) -> Iterator[KeptClusters]:
    """Start clusters as `mqproof up` with these words does; end them, and leave no container."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(states))
        assert main(["up", *words]) == 0
        (one,) = requests.kept()
        yield one
        assert main(["down"]) == 0
        assert requests.kept() == ()
        mark = f"{labels.EXPERIMENT}={one.folder / 'side-by-side'}"
        assert engine.connect().containers.list(all=True, filters={"label": mark}) == []
