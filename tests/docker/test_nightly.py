"""Every scenario on every layout, with full-length timers (`pytest -m nightly`)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.campaigns.cells import Choice, matrix
from harness.campaigns.playing import Pace, carry_out, play
from harness.campaigns.stored import Knowledge, found
from harness.claims.claims import shipped
from harness.compare.expectations import Standing
from harness.plan.model import cell_of
from harness.systems.catalogue import layout_names
from tests.docker.conftest import require_docker

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored")
LAYOUTS = [(system, label) for system in SYSTEMS for label in layout_names(system)]
MINUTES = 240.0  # far more than a layout's scenarios need


@pytest.mark.parametrize(("system", "label"), LAYOUTS)
def test_every_cell_is_judged_with_its_known_verdict(
    system: str, label: str, tmp_path: Path
) -> None:
    require_docker()
    layout, _, profile = label.partition("@")
    choice = Choice((system,), (layout,), profile=profile, deployment="compose")
    carry_out(tmp_path, choice, Pace(minutes=MINUTES), play, print)
    assert list(strange(tmp_path, choice)) == []


def strange(folder: Path, choice: Choice) -> Iterator[str]:
    """Return the cells that could not be judged, and the runs that are not as expected."""
    knowledge = Knowledge(shipped())
    runs = found(folder)
    for scenario, system, layout in matrix(choice).cells:
        of_cell = [it for it in runs if cell_of(it)[:3] == (scenario, system, layout)]
        results = [knowledge.of([one]) for one in of_cell]
        judged = [one for one in results if one.standing is not Standing.NOT_JUDGED]
        if not judged:
            yield f"{scenario} on {layout} was not judged in {len(of_cell)} runs"
        for one in judged:
            if one.standing is not Standing.AS_EXPECTED:
                yield f"{scenario} on {layout} is {one.standing}: {'; '.join(one.lines)}"
