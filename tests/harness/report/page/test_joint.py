"""Runs that were played together, in one picture, from the fault on."""

from dataclasses import replace
from pathlib import Path

from harness.judging.result import RunReport
from harness.report import html
from harness.report.page.joint import BEFORE_S, pictures
from harness.view.failing import Failing
from harness.view.routes import RouteRow, Routes, Stretch
from tests.rigs.histories.by_hand import ns
from tests.rigs.runs.judged_runs import crash, judged_run, page_of

FAILED = Failing(1, "publisher-1", "rkt1", 410, 116, 400, 3.1, 94.2, None, "", None, "")
AT_MS = 12_000  # of the crash


def of(folder: Path, name: str, other: str, client: str, **changes: object) -> RunReport:
    run = judged_run(folder / name, crash(), cell=("incident", "rocketmq", "colocated", client))
    assert run.detail is not None
    (fault,) = run.detail.timeline.faults
    failing = Stretch(fault.issued_ns, fault.issued_ns + ns(5_000), "failing", "50% failed", "t")
    routes = Routes(sends=(RouteRow("publisher-1", (failing,)),))
    timeline = replace(run.detail.timeline, routes=routes)
    detail = replace(run.detail, timeline=timeline, failing=(FAILED,))
    return replace(run, **{"detail": detail, "together": (other,), **changes})  # type: ignore[arg-type]


def test_every_client_has_a_row_by_name_server_after_fault(tmp_path: Path) -> None:
    runs = of(tmp_path, "one", "two", "<old>"), of(tmp_path, "two", "one", "new")
    report = page_of(*runs)
    (picture,) = pictures(report.runs)
    assert [lane.name for lane in picture.sends] == ["<old>, queries rkt1", "new, queries rkt1"]
    (span, _) = (lane.spans[0] for lane in picture.sends)
    (fault,) = picture.faults
    assert span.left == fault.spans[0].left
    assert 0 < span.left < 100 * BEFORE_S / (BEFORE_S + 1)
    assert "+0 s" in [tick.text for tick in picture.ticks]
    assert "&lt;old&gt;, queries rkt1" in html.text(report)


def test_only_a_dropped_master_is_drawn_with_its_believers(
    tmp_path: Path,
) -> None:
    runs = [of(tmp_path, *names, "old") for names in (("one", "two"), ("two", "one"))]
    runs = [believing(run) for run in runs]
    report = page_of(*runs)
    (picture,) = pictures(report.runs)
    assert [lane.name for lane in picture.believed] == ["old, queries rkt1: broker-a master"] * 2
    assert [span.tone for span in picture.believed[0].spans] == ["shown"]
    assert "Where each client&#39;s own route" in html.text(report).replace("'", "&#39;")


def believing(run: RunReport) -> RunReport:
    """A client that holds on to both masters, where a name server dropped one of them."""
    assert run.detail is not None
    timeline = run.detail.timeline
    origin_ns = timeline.faults[0].issued_ns
    there = Stretch(0, origin_ns + ns(5_000), "shown", "a:1", "t")
    gone = Stretch(origin_ns + ns(1_000), origin_ns + ns(5_000), "dropped", "dropped", "t")
    believed = (("broker-a", 0), ("broker-b", 0), ("broker-a", 1))
    routes = replace(
        timeline.routes,
        servers=(
            RouteRow("rkt2", (gone,), "broker-a", 0),
            RouteRow("rkt2", (gone,), "broker-a", 1),
        ),
        believed=tuple(RouteRow("publisher-1", (there,), *one) for one in believed),
    )
    return replace(run, detail=replace(run.detail, timeline=replace(timeline, routes=routes)))


def test_single_run_or_unjudged_group_has_no_joint_picture(
    tmp_path: Path,
) -> None:
    alone = of(tmp_path / "a", "one", "two", "old", together=())
    left = of(tmp_path / "b", "one", "two", "old")
    lost = RunReport("two", left.cell, 1, 7, failure="it was not recorded", together=("one",))
    assert pictures([alone]) == pictures([left, lost]) == ()
