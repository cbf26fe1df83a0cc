"""The picture: a line of panels a column, what differs most first, words beside each."""

from pathlib import Path

import pytest

from harness.judging.result import Report
from harness.report.page import picture as picture_page
from harness.report.page.cells import cells
from harness.report.page.picture import Picture, picture
from harness.report.page.places import places
from spark_analysis.schema.service import QUEUE
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import crash, judged_run, page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, run


def of(made: Report) -> Picture:
    found = picture(cells(made), places(made))
    assert found is not None
    return found


def plain(pairs: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    return [(tone, text.replace("\u00a0", " ")) for tone, text in pairs]


def test_loss_is_shown_before_downtime() -> None:
    lost = Story().count("lost", "stored", 37).outage(12, 20).outage(30, 33)
    (scene,) = of(page_of(summed(lost), summed(Story(), cell=OTHER))).scenes
    first, second = scene.panels
    assert plain(first.findings) == [
        ("fail", "✗ 37 lost"),
        ("out", "downtime 11.0 s in 2 outages"),
    ]
    assert first.more == (
        "1 run",
        "1,600 of 1,800 messages due in the 2 outages were late",
    )
    assert plain(second.findings) == [("pass", "✓ no downtime")]
    assert second.more == ("1 run",)


def test_unknown_intervals_are_not_drawn_as_good() -> None:
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    lost = run(Story(), cell=OTHER, verdicts=(), failure="no cluster")
    (scene,) = of(page_of(summed(stalled), lost)).scenes
    doubted, unjudged = scene.panels
    assert plain(doubted.findings) == [("open", "? downtime: not decided")]
    assert doubted.more == (
        "1 run",
        "publisher 1 stalled 140 ms, 0.3 s after the fault began (host busy)",
    )
    assert (plain(unjudged.findings), unjudged.why) == ([("open", "? not judged")], "no cluster")
    assert picture(cells(page_of(lost)), places(page_of(lost))) is None


def test_runs_of_unknown_length_are_counted_separately() -> None:
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    (scene,) = of(page_of(summed(Story().outage(12, 13)), summed(stalled, repeat=2))).scenes
    (panel,) = scene.panels
    assert plain(panel.findings) == [("out", "downtime ≥ 1.00 s")]
    assert panel.more == (
        "in the worst run, 800 of 900 messages due then were late",
        "downtime in 1 of 1 run",
        "not decided in 1 of 2 runs",
    )


def test_only_the_most_different_scenarios_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(picture_page, "SCENES_MAX", 2)
    stories = {"calm": Story(), "out": Story().outage(12, 50), "lost": Story()}
    stories["lost"].count("lost", "stored", 1)
    made = page_of(*(summed(story, cell=(name, *CELL[1:])) for name, story in stories.items()))
    found = of(made)
    assert [scene.scenario for scene in found.scenes] == ["lost", "out"]
    assert "1 more scenario is listed below" in found.left_out


def test_scenarios_have_the_numbers_of_their_cells_names() -> None:
    lost = Story().count("lost", "stored", 1)
    runs = [
        summed(story, cell=(name, *cell[1:]))
        for name, story in {"first": Story(), "second": lost}.items()
        for cell in (CELL, OTHER)
    ]
    made = page_of(*runs)
    scenes = of(made).scenes
    assert [(scene.scenario, scene.number) for scene in scenes] == [
        ("second", "2"),
        ("first", "1"),
    ]
    assert [view.label for view in cells(made)] == ["A1", "B1", "A2", "B2"]
    (alone,) = of(page_of(*runs[:2])).scenes
    assert alone.number == ""
    assert of(made).worst_first and not of(page_of(*runs[:2])).worst_first


def test_scenarios_of_all_columns_have_one_scale(tmp_path: Path) -> None:
    runs = (
        judged_run(tmp_path / "a", crash()),
        judged_run(tmp_path / "b", crash(until_ms=80_000), cell=OTHER),
    )
    (scene,) = of(page_of(*runs)).scenes
    zeros = {panel.drawn.zero for panel in scene.panels if panel.drawn is not None}
    assert zeros == {150}  # +12 s of 80 s
    assert [tick.text for tick in scene.ticks] == ["fault", "+20 s", "+40 s", "+60 s"]


def test_the_worst_queue_is_not_repeated_if_its_downtime_is_that_of_the_run() -> None:
    def more(seconds: int) -> list[str]:
        story = Story().outage(12, 20).queue("q7").outage(12, 12 + seconds, scope=QUEUE, name="q7")
        (scene,) = of(page_of(summed(story))).scenes
        return [text for text in scene.panels[0].more if "the worst of" in text]

    assert more(8) == []
    assert len(more(9)) == 1
