"""The pictures of a published page: runs that were played together, second by second.

    <!-- picture: freeze.svg incident-freeze colocated@default -->
    <!-- end -->

1. The file lies beside the page, under its name; of several repeats the first that was judged is
   drawn.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.campaigns.packed import Packed
from harness.plan.problems import PlanError, Problem
from harness.report.charts import svg
from harness.report.page.joint import Joint, pictures

PICTURE = re.compile(r"^<!-- picture: ([\w.-]+\.svg) (\S+) (\S+) -->$")


@dataclass(frozen=True, slots=True)
class WantedPicture:
    """One picture as a page asks for it."""

    file: str
    scenario: str
    layout: str  # with its profile

    @property
    def lines(self) -> Iterable[str]:
        """What stands on the page for it."""
        caption = f"{self.scenario} on {self.layout}, second by second from the fault on"
        return "", f"![{caption}]({self.file})", ""


def wanted(line: str) -> WantedPicture | None:
    """What a line of a page asks for; None where it asks for no picture."""
    found = PICTURE.match(line)
    return None if found is None else WantedPicture(found[1], found[2], found[3])


def drawn(one: WantedPicture, packs: Sequence[Packed]) -> str:
    """An SVG document. Raises PlanError where no runs of that cell were played together."""
    for pack in packs:
        own = [
            run for run in pack.runs if (run.cell[0], run.cell[2]) == (one.scenario, one.layout)
        ]
        for picture in pictures(own):
            return svg.image(picture.place, _blocks(picture), picture.ticks)
    text = f"no runs of {one.scenario} on {one.layout} were played together and judged"
    raise PlanError([Problem(one.file, text)])


def _blocks(picture: Joint) -> Sequence[svg.Block]:
    return (
        ("the fault, verified", picture.faults),
        ("what each name server showed", picture.servers),
        ("what each client's own route had", picture.believed),
        ("each publisher's sends (red: some failed in that second)", picture.sends),
    )
