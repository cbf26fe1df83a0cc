"""Tables and pictures of runs whose clients ask name servers: who dropped whom, and when."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaigns.packed import Packed
from harness.campaigns.page_tables import dropped
from harness.campaigns.pages import WantedPicture, drawn, wanted
from harness.judging.result import RunReport
from harness.plan.problems import PlanError
from harness.view.routes import RouteRow, Routes, Stretch
from tests.rigs.histories.by_hand import ns
from tests.rigs.runs.judged_runs import crash, judged_run

CELL = ("incident", "rocketmq", "colocated@default", "old")


def stretch(origin_ns: int, from_s: float, until_s: float, state: str) -> Stretch:
    from_ns, until_ns = (origin_ns + ns(round(1_000 * each)) for each in (from_s, until_s))
    return Stretch(from_ns, until_ns, state, state, "t")


def run(folder: Path, name: str, states: list[tuple[float, float, str]]) -> RunReport:
    """One whose prober saw this of a master at rkt2, in seconds from the fault on."""
    found = judged_run(folder / name, crash(), cell=CELL)
    assert found.detail is not None
    timeline = found.detail.timeline
    origin_ns = timeline.faults[0].issued_ns
    seen = tuple(stretch(origin_ns, *each) for each in states)
    routes = Routes(
        servers=(
            RouteRow("rkt2", seen, "broker-a", 0),
            RouteRow("rkt2", seen, "broker-a", 1),
            RouteRow("rkt2", (stretch(origin_ns, -5, 30, "shown"),), "broker-b", 0),
        ),
        sends=(RouteRow("publisher-1", (stretch(origin_ns, 0, 3, "failing"),)),),
    )
    detail = replace(found.detail, timeline=replace(timeline, routes=routes))
    other = {"one": "two", "two": "one"}[name]
    return replace(found, detail=detail, together=(other,))


@pytest.fixture
def pack(tmp_path: Path) -> Packed:
    late = [(-5.0, 2.0, "shown"), (2.0, 12.0, "dropped"), (12.0, 30.0, "shown")]
    silent = [(-5.0, 1.0, "shown"), (1.0, 30.0, "silent")]
    runs = run(tmp_path, "one", late), run(tmp_path, "two", silent)
    return Packed("e.tar.xz", "mqproof run", (), runs)


def test_name_server_has_a_row_per_dropped_or_unknown_master(
    pack: Packed,
) -> None:
    head, _, *rows = dropped([pack])
    names = [name.strip() for name in head.strip("|").split("|")]
    (row,) = [
        dict(zip(names, map(str.strip, one.strip("|").split("|")), strict=True)) for one in rows
    ]
    assert (row["name server"], row["master"], row["runs"]) == ("rkt2", "broker-a", "2")
    assert row["fell silent after"] == "1.00 s; never in 1 of 2"
    assert row["dropped it after"] == "2.00 s; never in 1 of 2"
    assert row["showed it again after"] == "12.0 s; never in 1 of 2"


def test_a_picture_shows_the_runs_that_were_played_together(pack: Packed) -> None:
    picture = wanted("<!-- picture: freeze.svg incident colocated@default -->")
    assert picture == WantedPicture("freeze.svg", "incident", "colocated@default")
    assert picture is not None
    document = drawn(picture, [pack])
    assert "incident on rocketmq colocated@default, repeat 1" in document
    assert "rkt2: broker-a master" in document
    assert list(picture.lines)[1].endswith("(freeze.svg)")


def test_a_picture_without_runs_is_refused(pack: Packed) -> None:
    with pytest.raises(PlanError, match="no runs of incident on separated@default"):
        drawn(WantedPicture("freeze.svg", "incident", "separated@default"), [pack])


def test_a_picture_lies_nowhere_else_than_beside_its_page() -> None:
    assert wanted("<!-- picture: ../freeze.svg incident colocated@default -->") is None
