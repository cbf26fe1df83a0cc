"""Values and tables as Markdown.

1. A value (a name, a title, a version, a reason) means nothing but itself, on one line: `escaped`,
   or `code`.
2. `Markup` is text that is Markdown already. What is put together from values and mark-up is
   Markup, too, and a table takes it as it is.
3. Whatever else stands in a table cannot break it, nor bring HTML.
"""

import re
from collections.abc import Iterable, Iterator

from harness.outside.text import visible

_INSTEAD = (("\u00a0", " "), ("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("\n", " "), ("\r", " "))
_BLANKS = re.compile("[\n\t\u00a0]")
_AS_HTML = {"<": "&lt;", "&": "&amp;"}
# A star between blanks, and an underscore within a word, are no mark-up.
_MARKS = re.compile(
    r"[\\|`~<]|&(?=#?\w+;)|(?<!\s)\*|\*(?!\s)|(?<![^\W_])_|_(?![^\W_])",
)
_LINK = re.compile(r"\][(\[]|\[\^")
_BRACKETS = re.compile(r"[\[\]]")
# What makes a heading, a quotation, a list or a line of it, and where its backslash belongs.
_BEGINNING = re.compile(r"(?=#{1,6}(?:\s|\Z)|>|[-+](?:\s|\Z)|[-=]+\s*\Z)|(?<=\d)(?=[.)](?:\s|\Z))")
_NUMBER = re.compile(r"\d*")
_PLAIN_CODE = re.compile(r"[^`|\\\s]+(?: [^`|\\\s]+)*")


class Markup(str):
    """A text that is Markdown already."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """Return a value as Markdown: no mark-up, no HTML and no link, on one line."""
    if isinstance(text, Markup):
        return text
    shown = _without_marks(text)
    if _LINK.search(shown):
        shown = _without_links(shown)
    number = _NUMBER.match(shown)
    place = number.end() if number else 0
    if _BEGINNING.match(shown, place):
        shown = f"{shown[:place]}\\{shown[place:]}"
    return Markup(shown)


def code(text: str) -> Markup:
    """Return a value as code. What could end a code span, or a field, is code in HTML."""
    if _PLAIN_CODE.fullmatch(visible(text)):
        return Markup(f"`{visible(text)}`")
    return Markup(f"<code>{escaped(text)}</code>" if text else "")


def link(text: str, target: str) -> Markup:
    """Return a link with a value as its text. `target`: quoted already."""
    return Markup(f"[{_without_links(_without_marks(text))}]({target})")


def joined(between: str, parts: Iterable[str]) -> Markup:
    """Return the values and mark-up of a list as one text."""
    return Markup(between.join(map(escaped, parts)))


def row(fields: Iterable[str]) -> str:
    plain = (
        one.replace("\u00a0", " ") if isinstance(one, Markup) else _one_line(one) for one in fields
    )
    return f"| {' | '.join(plain)} |"


def head(*names: str) -> Iterator[str]:
    """Yield the first two lines of a table."""
    yield row(names)
    yield row(["---"] * len(names))


def _without_marks(text: str) -> str:
    plain = _BLANKS.sub(" ", visible(text))
    return _MARKS.sub(lambda mark: _AS_HTML.get(mark[0], f"\\{mark[0]}"), plain)


def _without_links(text: str) -> str:
    return _BRACKETS.sub(r"\\\g<0>", text)


def _one_line(text: str) -> str:
    for mark, instead in _INSTEAD:
        text = text.replace(mark, instead)
    return text
