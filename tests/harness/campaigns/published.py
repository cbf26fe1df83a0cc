"""The published pages that are made from runs, as parameters of tests.

Pages share runs, and each run is judged once a process: all pages belong to one worker.
"""

from pathlib import Path
from typing import Any

import pytest

from harness.campaigns.pages import RUNS

PUBLISHED = Path(__file__).parents[3] / "results" / "published"


def made_pages() -> list[Any]:
    """Paths."""
    return [
        pytest.param(path, id=path.name, marks=pytest.mark.xdist_group("published-pages"))
        for path in sorted(PUBLISHED.glob("*.md"))
        if RUNS.search(path.read_text("utf-8"))
    ]
