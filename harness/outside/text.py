"""Text from outside, made safe to show: without control, hidden or direction characters.

1. Names, words of a command line, contents of files, answers of brokers, log lines and paths go
   through `visible` or `one_line` before a terminal, a page or junit shows them.
2. Invisible and control characters are shown by their number, as `\\u202e`. Nothing is dropped,
   and no half of a character remains that UTF-8 cannot hold.
3. A value in a sentence is cut if it is long, with its length.
"""

import re
from reprlib import Repr
from unicodedata import category

SHOWN_MAX = 60  # characters of a value in a sentence
_PLAIN = "\n\t -~"
_SUSPECT = re.compile(f"[^{_PLAIN}]")
_BREAKING = re.compile("[\n\t]")
_HALF = re.compile("[\ud800-\udfff]")
# They count as letters, marks or signs, and show nothing: joiners, fillers, selectors of variants.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)
_SEPARATORS = ("Zl", "Zp")
_BRIEFLY = Repr()
_BRIEFLY.maxstring = _BRIEFLY.maxother = _BRIEFLY.maxlong = SHOWN_MAX


def visible(text: str) -> str:
    """Return the text with invisible characters shown by number; its lines stay lines."""
    return _SUSPECT.sub(lambda found: _shown(found[0]), text)


def one_line(text: str) -> str:
    """The same of what is to be one line, whatever it holds."""
    return _BREAKING.sub(lambda found: _number(found[0]), visible(text))


def whole_marks(text: str, escape: str = "") -> str:
    """The text with nothing changed but halves of characters, as undecodable names of files have
    them: what UTF-8 can hold. `escape`: what a backslash takes before it where the text stands."""
    return _HALF.sub(lambda found: escape + _number(found[0]), text)


def brief(value: object) -> str:
    """A value as it may stand in a sentence, however long it is."""
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN_MAX else f"{value[:40]!r}... ({_size(value)})"
    try:
        shown = _BRIEFLY.repr(value)
    except ValueError:  # more digits than Python writes
        return "a number of too many digits"
    many = isinstance(value, list | tuple | dict) and len(value) > SHOWN_MAX // 10
    return f"{cut(shown)} ({len(value):,} entries)" if many else cut(shown)  # type: ignore[arg-type]


def cut(text: str, most: int = SHOWN_MAX) -> str:
    """A text that may be long: its beginning, its length and its end."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end]}... ({_size(text)}) ...{text[-end:]}"


def _size(text: str) -> str:
    return f"{len(text):,} characters"


def _shown(mark: str) -> str:
    hidden = category(mark)[0] == "C" or category(mark) in _SEPARATORS or _BLANK.match(mark)
    return _number(mark) if hidden else mark


def _number(mark: str) -> str:
    """`\\x1b`, `\\u202e`, `\\U000e0041`, as Python and many others write it."""
    return ascii(mark)[1:-1]
