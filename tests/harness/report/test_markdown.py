"""Values in Markdown mean nothing but themselves: read back by a parser of Markdown."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.outside.text import visible
from harness.report.markdown import Markup, code, escaped, head, joined, link, row

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    "a|b",
    "*bold* and **more**",
    "_a_ __b__ snake_case_",
    "`code` ``",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](http://example.com/x.png)",
    "[a][b] [^1]",
    "one\ntwo\r\n\n| three |",
    "# heading",
    "> quoted",
    "- item",
    "1. first",
    "==",
    "&lt;b&gt; &#60;",
    "~gone~ ~~gone~~",
    "back\\slash\\|pipe\\",
    "<!-- end -->",
    "]", "[", "*", "_", "-", "", "`",
)  # fmt: skip
texts = st.one_of(st.text(max_size=30), st.text("ab1 .|*_`<>&;#[]()!~\\-=+\n", max_size=20))


def plain(text: str) -> str:
    """Return what a reader sees of a value: on one line, without blanks at its ends."""
    return re.sub(r"\s+", " ", re.sub(r"[\n\t\u00a0]", " ", visible(text))).strip()


def inner(token: Token) -> str:
    """Return the text of a part that has nothing but text, and code where that was meant."""
    parts = token.children or []
    kinds = {part.type for part in parts} - {"text", "text_special", "softbreak", "code_inline"}
    tags = {part.content for part in parts if part.type == "html_inline"}
    assert kinds <= {"html_inline"}, kinds
    assert tags <= {"<code>", "</code>"}, tags
    shown = "".join(part.content for part in parts if part.type != "html_inline")
    return re.sub(r"\s+", " ", shown).strip()


def fields(*values: str) -> list[str]:
    """Return the fields of the only row of a table with these values."""
    tokens = PARSER.parse("\n".join([*head("a", "b", "c"), row(values)]))
    assert [one.type for one in tokens].count("tr_open") == 2
    assert not any(one.type == "html_block" for one in tokens)
    return [inner(one) for one in tokens if one.type == "inline"][3:]


def with_examples(test: Callable[[str], None]) -> Callable[[str], None]:
    for text in HOSTILE:
        test = example(text)(test)
    return test


@with_examples
@given(texts)
def test_a_value_in_a_table_is_a_field_that_shows_itself(text: str) -> None:
    assert fields("before", escaped(text), "after") == ["before", plain(text), "after"]


@with_examples
@given(texts)
def test_a_value_as_code_is_a_field_that_shows_itself(text: str) -> None:
    assert fields("before", code(text), "after") == ["before", plain(text), "after"]


@with_examples
@given(texts)
def test_a_value_outside_a_table_is_a_paragraph_that_shows_itself(text: str) -> None:
    tokens = PARSER.parse(f"- {escaped(text)}\n")
    found = [inner(one) for one in tokens if one.type == "inline"]
    assert found == ([plain(text)] if plain(text) else [])
    assert {one.type for one in tokens} <= {
        *("bullet_list_open", "list_item_open", "paragraph_open", "inline"),
        *("paragraph_close", "list_item_close", "bullet_list_close"),
    }


@with_examples
@given(texts)
def test_the_text_of_a_link_is_no_other_link(text: str) -> None:
    (_, inline, _) = PARSER.parse(f"see {link(text, '#here')}")
    links = [one for one in inline.children or [] if one.type == "link_open"]
    assert [one.attrs for one in links] == [{"href": "#here"}]


@with_examples
@given(texts)
def test_other_texts_break_no_table(text: str) -> None:
    tokens = PARSER.parse("\n".join([*head("a", "b", "c"), row(["before", text, "after"])]))
    assert [one.type for one in tokens].count("td_open") == 3
    html = [part for one in tokens for part in one.children or [] if part.type == "html_inline"]
    assert html == []


@pytest.mark.parametrize(
    "text",
    ["all-automatic@T=10", "snake_case", "2 * 3", "1 lost [1; 2]", "95 % CI: 0–63 %", "≥ 3 s"],
)
def test_plain_values_stay_as_they_are(text: str) -> None:
    assert escaped(text) == text
    assert code(text) == f"`{text}`"


def test_markup_is_not_escaped_again() -> None:
    found = joined(" on ", [code("a_b"), "x|y", Markup("**bold**")])
    assert found == "`a_b` on x\\|y on **bold**"
    assert row([found]) == f"| {found} |"
    assert escaped(found) is found
