"""What comes from outside, as it is shown: nothing of it commands, hides, turns or grows."""

import sys
from unicodedata import category
from xml.etree import ElementTree as xml

import pytest

from harness.outside.text import SHOWN_MAX, brief, cut, one_line, visible, whole_marks

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))


def test_xml_and_utf_8_can_hold_every_shown_code_point() -> None:
    shown = visible(EVERY)
    element = xml.Element("told", said=shown)
    element.text = shown
    read = xml.fromstring(xml.tostring(element, encoding="utf-8"))
    assert read.text == shown
    assert read.get("said") == shown


def test_active_or_hidden_code_points_are_removed_except_line_ends() -> None:
    left = {category(mark) for mark in visible(EVERY) if mark not in "\n\t"}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\r", r"\r"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),  # turn the line around
        ("zero\u200bwidth\u200d\ufeff", r"zero\u200bwidth\u200d\ufeff"),
        ("soft\u00adhyphen", r"soft\xadhyphen"),
        ("\U000e0041\U000e0001", r"\U000e0041\U000e0001"),  # tags
        ("fillers \u115f\u3164\uffa0\u2800\u034f", r"fillers \u115f\u3164\uffa0\u2800\u034f"),
        ("variants \ufe0f\U000e0100\u180b", r"variants \ufe0f\U000e0100\u180b"),
        ("half \udcff", r"half \udcff"),
        ("lines\u2028\u2029\x85", r"lines\u2028\u2029\x85"),
    ],
)
def test_invisible_characters_are_reported_by_number(said: str, shown: str) -> None:
    assert visible(said) == shown


@pytest.mark.parametrize(
    "plain", ["two\nlines\tof text", "订单-müßig ✓ ≥ 3 s\u00a0long", "a\\b", ""]
)
def test_printable_text_stays_unchanged(plain: str) -> None:
    assert visible(plain) == plain


def test_one_line_stays_one() -> None:
    assert one_line("name\nverdict: passed\tso") == r"name\nverdict: passed\tso"


def test_for_utf_8_only_lone_surrogates_are_replaced() -> None:
    assert whole_marks("a\udcffb\x1b\u202e") == "a\\udcffb\x1b\u202e"


def test_a_long_value_is_cut_and_its_length_is_reported() -> None:
    assert brief("short") == "'short'"
    assert brief("x" * 1_000_000) == f"'{'x' * 40}'... (1,000,000 characters)"
    assert brief(10**5000) == "a number of too many digits"
    assert brief(list(range(9000))) == "[0, 1, 2, 3, 4, 5, ...] (9,000 entries)"
    assert brief({"a": 1.5}) == "{'a': 1.5}"
    nested: list[object] = []
    for _ in range(50_000):
        nested = [nested]
    for value in (nested, {"x" * 99: "y" * 99} | {str(n): n for n in range(9000)}, b"z" * 9000):
        assert len(brief(value)) < 3 * SHOWN_MAX


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    assert cut("a" * 60) == "a" * 60
    assert cut(f"{'a' * 500}, line 3", 30) == f"{'a' * 20}... (508 characters) ...aa, line 3"
