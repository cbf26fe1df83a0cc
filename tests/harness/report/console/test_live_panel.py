"""A run on a terminal: what is seen of it, on terminals of all sorts."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from harness.report.console.live_panel import LivePanel
from harness.run.core.progress import Part
from harness.run.core.strip import SECOND_NS, Share, Spell, Strip
from harness.run.core.view import LiveCounts, PerSecond

PARTS = (
    Part("baseline", 20, 1.0),
    Part("windows", 30, 0.5),
    Part("recovery", 20, 0.0),
    Part("settle", 5, 0.0),
    Part("drain", 4, 0.0),
    Part("audit", 3, 0.0),
)
ARMED = ("kill rmq1 (master of orders)",)
FAULT = Spell(ARMED[0], 22 * SECOND_NS, None)
STRIP = Strip(0, (Share(100, 100),) * 20 + (Share(100, 0),) * 9, 6, (FAULT,))
RATES = PerSecond(300.0, 150.0, 299.6)
VIEW = LiveCounts("windows", 900, 12, ARMED, 41.6, RATES, PARTS, STRIP, (), "run-1", "2 of 3")


def drawn(view: LiveCounts, width: int = 80, height: int = 40, ascii_only: bool = False) -> str:
    paper = io.TextIOWrapper(io.BytesIO(), encoding="ascii" if ascii_only else "utf-8")
    Console(file=paper, width=width, height=height, no_color=True).print(LivePanel(view))
    paper.seek(0)
    return paper.read()


def test_panel_shows_run_progress_armed_faults_and_punctual_messages() -> None:
    assert drawn(VIEW).splitlines() == [
        "run 2 of 3: run-1",
        "━━━━━━━━━━━━━━━━━ ━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌ ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ ╌╌╌╌╌ ╌╌╌╌ ╌╌╌",
        "steady state      faults                     recovery",
        "faults (2 of 6), at least 42 s left",
        "fault: kill rmq1 (master of orders)",
        "sent 300/s, confirmed 150/s, delivered 300/s, unconfirmed 12, late 900",
        "share on time by second:",
        "   0 s ████████████████████×××××××××░░░░░░",
        "                             ▲━━━━━━━━━━━━",
        "█ all on time  ▁-▇ some  × none  · nothing due  ░ not known yet  ▲━ fault",
    ]


@pytest.mark.parametrize("width", [2, 5, 10, 20, 40, 80, 250])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, drawn(VIEW, width).splitlines())) <= width


def test_forty_columns_hold_all_of_it() -> None:
    lines = drawn(VIEW, 40).splitlines()
    assert "faults (2 of 6), at least 42 s left" in lines
    assert "   0 s ████████████████████×××××××××░" in lines
    assert "  30 s ░░░░░" in lines
    assert len(lines) <= 16


def test_a_low_terminal_shows_the_newest_seconds() -> None:
    lines = drawn(VIEW, 40, height=10).splitlines()
    assert "  10 s ██████████×××××××××░░░░░░" in lines
    assert [line for line in lines if line.startswith("   0 s ")] == []


def test_a_terminal_that_knows_no_blocks_gets_plain_signs() -> None:
    text = drawn(VIEW, ascii_only=True)
    assert text.isascii()
    assert "   0 s ####################xxxxxxxxx~~~~~~" in text


def test_a_run_in_which_nothing_is_due_has_no_strip() -> None:
    assert "on time" not in drawn(replace(VIEW, strip=None))


def test_panel_shows_only_text_before_and_after_the_load() -> None:
    early = replace(VIEW, phase="preparing", parts=(), armed=(), left_s=0.0, strip=None)
    assert drawn(early).splitlines()[:3] == ["run 2 of 3: run-1", "preparing", "fault: none"]
    closing = replace(VIEW, phase="closing", rates=None, left_s=0.0)
    assert "closing\n" in drawn(closing)
    assert "\nunconfirmed 12, late 900\n" in drawn(closing)


def test_panel_shows_the_wait_instead_of_the_remaining_time() -> None:
    wait = "waiting for proof that kill rmq1 has ended: 44 s so far, 120 s at most"
    lines = drawn(replace(VIEW, left_s=5.0, waits=(wait,)), 100).splitlines()
    assert f"faults (2 of 6), {wait}" in lines
    assert not [line for line in lines if "left" in line]


def test_panel_counts_the_undo_only_while_it_is_to_come() -> None:
    assert "s left and" not in drawn(VIEW)
    expected = "at least 42 s left and the time to undo faults"
    assert expected in drawn(replace(VIEW, awaits_undo=True))
