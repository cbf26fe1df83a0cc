"""The published pages that are made from runs, as parameters of tests: small ones by day, all of
them by night, for every packed run is judged again."""

from pathlib import Path
from typing import Any

import pytest

from harness.campaigns import pages

PUBLISHED = Path(__file__).parents[3] / "results" / "published"
OCTETS_BY_DAY = 10_000_000  # of a page's packs


def made_pages() -> list[Any]:
    """Paths."""
    return [_parameter(path) for path in pages.pages(PUBLISHED)]


def _parameter(path: Path) -> Any:
    octets = sum(pack.stat().st_size for pack in pages.read(path).packs)
    marks = [pytest.mark.nightly] if octets > OCTETS_BY_DAY else []
    return pytest.param(path, id=path.name, marks=[pytest.mark.slow, *marks])
