"""The fault page: windows by kind and mechanism, and what was not proved in the open."""

from dataclasses import replace
from pathlib import Path

from harness.judging.result import Report, RunReport
from harness.report.page.cells import cells
from harness.report.page.faults import DOUBTED_MAX, FaultsView, WindowView
from harness.view.timeline import FaultSpan, OperationSpan, Timeline, Verification
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import crash, judged_run, page_of
from tests.rigs.runs.reports import run

S = 1_000_000_000
SPAN = FaultSpan(
    number=1,
    kind="hang",
    target="master of orders",
    resolved="rmq1",
    role="master of orders",
    mechanism="packet_filter",
    requested_from_ns=12 * S,
    requested_until_ns=52 * S,
    issued_ns=12 * S + S // 4,
    returned_ns=12 * S + S // 2,
    ended_ns=52 * S,
    held=Verification(15 * S, True, "3 links silent", 13 * S),
    gone=Verification(54 * S, True, "3 links answer"),
    verified=True,
    doubt="",
    stages=(),
    stages_doubt="",
    undo_issued_ns=51 * S,
)

NEVER = replace(
    SPAN,
    resolved="",
    role="",
    mechanism="",
    returned_ns=SPAN.issued_ns,
    ended_ns=None,
    undo_issued_ns=None,
    held=None,
    gone=None,
    verified=False,
)


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def with_spans(folder: Path, *spans: FaultSpan) -> RunReport:
    made = judged_run(folder, crash())
    assert made.detail is not None
    timeline = replace(made.detail.timeline, faults=spans)
    return replace(made, detail=replace(made.detail, timeline=timeline))


def view(*runs: RunReport) -> FaultsView:
    report: Report = page_of(*runs)
    return FaultsView(report, cells(report))


def alone(span: FaultSpan) -> WindowView:
    return WindowView(span, Timeline(0, 99, 1, (), (), (span,), (), 0, ()))


def test_a_window_is_reported_from_the_request_to_the_end() -> None:
    view = alone(SPAN)
    assert view.title == "hang clients' links to rmq1 (master of orders)"
    assert (view.tone, view.badge) == ("pass", "✓ VERIFIED")
    assert plain(view.requested) == "from +12.000 s for 40.0 s"
    assert plain(view.armed) == (
        "from +12.250 s (0.250 s after the requested time) to +12.500 s (the action "
        "took 0.250 s), through the packet filter"
    )
    assert plain(view.held) == (
        "yes, 2.75 s after the injection began (the check took 2.00 s): 3 links silent"
    )
    assert (
        plain(view.undone)
        == "39.8 s after the injection, at +52.000 s (the undo began at +51.000 s and took 1.00 s)"
    )
    assert plain(view.gone) == "yes, 41.8 s after the injection began: 3 links answer"


def second(*before: FaultSpan, operations: tuple[OperationSpan, ...] = ()) -> WindowView:
    """The second window: planned 1 s after the first one's planned end, begun at +56.25 s."""
    span = replace(SPAN, number=2, requested_from_ns=53 * S, requested_until_ns=55 * S)
    span = replace(span, issued_ns=56 * S + S // 4, returned_ns=57 * S, ended_ns=58 * S)
    faults = (*before, span)
    timeline = Timeline(0, 99, 1, (), (), faults, (), 0, (), operations=operations)
    return WindowView(span, timeline)


def test_later_window_begins_after_the_planned_pause() -> None:
    view = second(SPAN)
    assert plain(view.requested) == (
        "from the later of +53.000 s and +55.000 s (1.00 s after fault 1 was verified ended), "
        "for 2.00 s"
    )
    assert "+56.250 s (1.25 s after the requested time)" in plain(view.armed)


def test_later_window_that_waited_for_nothing_has_no_other_reason() -> None:
    early = replace(SPAN, gone=Verification(51 * S, True, "3 links answer"))
    assert plain(second(early).requested) == "from +53.000 s for 2.00 s"
    overlapping = replace(SPAN, requested_until_ns=60 * S)
    assert plain(second(overlapping).requested) == "from +53.000 s for 2.00 s"
    assert plain(second(NEVER).requested) == "from +53.000 s for 2.00 s"


def test_a_wait_of_unknown_length_makes_nothing_late() -> None:
    view = second(replace(SPAN, gone=None))
    assert plain(view.requested).startswith(
        "from the later of +53.000 s and the time when fault 1 was over"
    )
    assert "requested" not in view.armed


def test_later_window_waits_for_an_operation_too() -> None:
    done = OperationSpan(1, "restart", "rmq1", "rmq1", 52 * S, 52 * S, 54 * S, True, "")
    view = second(operations=(done,))
    assert plain(view.requested).startswith(
        "from the later of +53.000 s and +55.000 s (1.00 s after operation 1 had returned), for"
    )


def test_options_and_a_permanent_fault_are_part_of_the_request() -> None:
    links = replace(SPAN, options=("clients: publishers",), clients="publishers")
    span = replace(links, returns=False, gone=None, ended_ns=None)
    assert plain(alone(span).requested).endswith(
        "for 40.0 s, links of publishers, never to be undone"
    )
    assert alone(span).undone == "never, as requested"
    assert alone(span).title == "hang publishers' links to rmq1 (master of orders)"


def test_unproved_fault_is_explained_by_its_recorded_evidence() -> None:
    answered = replace(
        SPAN,
        verified=False,
        held=Verification(15 * S, False, "2 of 3 links answered"),
        doubt="not seen",
    )
    assert alone(answered).badge == "? NOT VERIFIED"
    assert alone(answered).held.endswith(": 2 of 3 links answered")
    stays = replace(SPAN, verified=False, gone=Verification(99 * S, False, "the link still hangs"))
    assert alone(stays).badge == "? END NOT VERIFIED"
    assert alone(stays).gone.startswith("no, ")


def test_a_window_that_never_opened_says_why_and_only_once() -> None:
    span = replace(NEVER, doubt="no host")
    view = alone(span)
    assert (view.badge, view.armed) == ("? NEVER BEGAN", "no host")
    assert (view.held, view.gone) == ("not verified", "not verified")
    assert view.undone == "there was nothing to undo"


def test_windows_are_grouped_by_kind_and_mechanism_with_medians(tmp_path: Path) -> None:
    slow = replace(SPAN, returned_ns=SPAN.issued_ns + 3 * S)
    other = replace(SPAN, mechanism="proxy")
    found = view(
        with_spans(tmp_path / "a", SPAN, replace(SPAN, number=2)),
        with_spans(tmp_path / "b", slow, other),
    )
    assert (found.windows, found.proved, found.doubted) == (4, 4, ())
    first, second = found.groups
    assert (first.kind, first.mechanism, first.windows) == ("hang", "packet filter", 3)
    assert plain(first.arm) == "0.250 s (0.250 s – 3.00 s)"
    assert plain(first.prove) == "2.75 s"
    assert (second.mechanism, second.windows, plain(second.go)) == ("proxy", 1, "3.00 s")
    assert [row.anchor for row in first.rows] == ["run-1", "run-1", "run-2"]


def test_groups_with_doubts_come_first_and_their_doubted_windows_too(tmp_path: Path) -> None:
    doubted = replace(
        SPAN, kind="kill", verified=False, held=Verification(15 * S, False, "it runs")
    )
    found = view(with_spans(tmp_path / "a", SPAN, replace(SPAN, kind="kill"), doubted))
    assert [(group.kind, group.held, group.windows) for group in found.groups] == [
        ("kill", 1, 2),
        ("hang", 1, 1),
    ]
    assert [row.window.tone for row in found.groups[0].rows] == ["open", "pass"]
    assert [row.window.title for row in found.doubted] == ["kill rmq1 (master of orders)"]


def test_hundreds_of_doubts_are_counted_and_stand_with_their_kind(tmp_path: Path) -> None:
    doubted = replace(SPAN, verified=False)
    found = view(with_spans(tmp_path / "a", *[doubted] * (DOUBTED_MAX + 9)))
    assert (len(found.doubted), found.doubted_left_out) == (DOUBTED_MAX, 9)
    assert len(found.groups[0].rows) == DOUBTED_MAX + 9


def test_a_fault_never_armed_has_no_times(tmp_path: Path) -> None:
    (group,) = view(with_spans(tmp_path / "a", NEVER)).groups
    assert (group.mechanism, group.held, group.gone) == ("never injected", 0, 0)
    assert (group.arm, group.prove, group.go) == ("–", "–", "–")


def test_runs_without_a_known_window_are_counted() -> None:
    found = view(run(Story(), verdicts=(), failure="no cluster"))
    assert (found.windows, found.groups, found.runs_without) == (0, (), 1)
