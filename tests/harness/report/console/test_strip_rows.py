"""The strip in plain signs: one a second, rows that fit, faults on lanes."""

import pytest

from harness.report.console.live_panel import ASCII, BLOCKS, legend, rows
from harness.run.core.strip import SECOND_NS, Share, Spell, Strip

ALL, HALF, NONE, IDLE = Share(10, 10), Share(10, 5), Share(10, 0), Share(0, 0)


def drawn(strip: Strip, width: int = 80, most: int = 4) -> list[str]:
    return [line.plain for line in rows(strip, width, most, ASCII)]


def spell(from_s: float, until_s: float | None) -> Spell:
    until_ns = None if until_s is None else round(until_s * SECOND_NS)
    return Spell("kill rmq1", round(from_s * SECOND_NS), until_ns)


def test_every_state_of_a_second_has_a_sign_without_colour() -> None:
    strip = Strip(3, (ALL, HALF, NONE, IDLE, None), 2)
    assert drawn(strip) == ["   0 s #5x.?~~"]
    blocks = rows(strip, 80, 4, BLOCKS)[0].plain
    assert blocks == "   0 s █▄×·?░░"


def test_shares_round_to_all_or_none_only_if_exact() -> None:
    strip = Strip(0, (Share(1000, 999), Share(1000, 1)), 0)
    assert drawn(strip) == ["   0 s 91"]


def test_fault_is_marked_below_its_seconds_until_undone() -> None:
    strip = Strip(3, (ALL,) * 3 + (NONE,) * 3, 4, (spell(6.2, 8.0),))
    assert drawn(strip) == ["   0 s ###xxx~~~~", "          ^="]
    armed = Strip(3, (ALL,) * 3 + (NONE,) * 3, 4, (spell(6.2, None),))
    assert drawn(armed)[1] == "          ^======"


def test_faults_that_overlap_lie_on_lanes_and_flaps_share_one() -> None:
    overlapping = (spell(1, 5), spell(3, 8))
    assert drawn(Strip(0, (ALL,) * 10, 0, overlapping))[1:] == [
        "        ^===",
        "          ^====",
    ]
    flaps = tuple(spell(at, at + 0.9) for at in (1, 3, 5, 6))
    assert drawn(Strip(0, (ALL,) * 10, 0, flaps))[1:] == ["        ^ ^ ^^"]


def test_a_fault_that_no_second_shows_yet_is_not_drawn() -> None:
    assert drawn(Strip(0, (ALL,), 0, (spell(4, None),))) == ["   0 s #"]


def test_rows_begin_at_tens_and_hold_the_newest_seconds() -> None:
    strip = Strip(0, (ALL,) * 75, 0, (spell(32, 45),))
    assert drawn(strip, width=40) == [
        "   0 s " + "#" * 30,
        "  30 s " + "#" * 30,
        "         ^============",
        "  60 s " + "#" * 15,
    ]
    assert drawn(strip, width=40, most=2) == [
        "  20 s " + "#" * 30,
        " " * 19 + "^============",
        "  50 s " + "#" * 25,
    ]
    assert drawn(strip, width=40, most=1) == ["  50 s " + "#" * 25]


def test_rows_show_the_time_since_the_load_began() -> None:
    strip = Strip(415, (ALL,) * 12, 0, (spell(420, 422),), left_out=410)
    assert drawn(strip) == [" 410 s " + "#" * 12, " " * 12 + "^="]


@pytest.mark.parametrize("width", [1, 2, 7, 12, 19, 20, 40, 200])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    strip = Strip(0, (HALF,) * 321, 9, (spell(0, None), spell(5, 300)))
    assert max(map(len, drawn(strip, width))) <= width


def test_the_legend_explains_every_sign_except_the_question_mark() -> None:
    for signs in (ASCII, BLOCKS):
        printed = legend(signs).plain
        shown = (signs.every, signs.some[0], signs.none, signs.idle, signs.pending, signs.begins)
        assert all(sign in printed for sign in shown)
