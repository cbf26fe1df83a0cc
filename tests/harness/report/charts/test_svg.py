"""Lanes along time as an image of its own: what is in it, and that nothing in it is mark-up."""

from xml.etree import ElementTree

from harness.report.charts.scale import AxisTick, Lane, Scale
from harness.report.charts.svg import image

SCALE = Scale(0, 100)
HOSTILE = "<script>alert('&')</script>"


def texts(document: str) -> list[str]:
    found = ElementTree.fromstring(document)
    return [one.text or "" for one in found.iter() if one.tag.endswith("text")]


def test_every_lane_has_its_name_and_a_proportional_span() -> None:
    lanes = [
        Lane("rkt1", (SCALE.span(0, 50, "shown", "there"), SCALE.span(50, 100, "dropped", "")))
    ]
    document = image("a run", [("name servers", lanes)], [AxisTick(50, "+50 s")])
    assert texts(document) == ["a run", "+50 s", "name servers", "rkt1", "there"]
    shapes = [one for one in ElementTree.fromstring(document).iter() if one.tag.endswith("rect")]
    whole, first, second = (float(one.get("width", "0")) for one in shapes)
    assert first == second
    assert 2 * first < whole


def test_names_of_runs_are_escaped_in_svg() -> None:
    lanes = [Lane(HOSTILE, (SCALE.span(0, 100, "held", HOSTILE, HOSTILE),))]
    document = image(HOSTILE, [(HOSTILE, lanes)], [AxisTick(0, HOSTILE)])
    assert "<script" not in document
    assert texts(document) == [HOSTILE] * 5


def test_a_word_without_room_is_the_title_of_its_stretch() -> None:
    document = image(
        "a run", [("", [Lane("one", (SCALE.span(0, 1, "held", "freeze rkt1"),))])], []
    )
    assert "freeze rkt1" not in texts(document)
    assert "<title>freeze rkt1</title>" in document


def test_a_block_without_lanes_is_left_out() -> None:
    assert "empty lane" not in image("a run", [("empty lane", [])], [])
