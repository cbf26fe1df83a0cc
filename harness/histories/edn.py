"""A reader of EDN, as much of it as histories are written in.

1. Every error has its place. A tag is passed over and what it tags is kept, whatever its name:
   histories are full of records of other people's types. So is what Clojure prints and EDN does
   not know: maps with a namespace, variables, regular expressions, numbers that are none.
2. edn_format, the library for it, was tried: it refuses any tag that was not announced to it, does
   not say where a text is broken, and is some times slower, on a parser (PLY) of its own.
3. Keywords and symbols are words of their own type, so that `:ok` is not the string "ok".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.outside.text import brief

_TOKEN = re.compile(
    r"""(?P<gap>[\s,]+|;[^\n]*)
    | (?P<open>\#\{|[\[({])
    | (?P<close>[\])}])
    | (?P<string>\#?"(?:[^"\\]|\\.)*")
    | (?P<discard>\#_)
    | (?P<tag>\#'|\#:{0,2}[A-Za-z][^\s,\[\](){}"';]*)
    | (?P<number>\#\#[A-Za-z-]+)
    | (?P<char>\\(?:newline|return|space|tab|u[0-9A-Fa-f]{4}|.))
    | (?P<atom>[^\s,\[\](){}"';\\#][^\s,\[\](){}";\\]*)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_INTEGER = re.compile(r"[-+]?\d+N?")
_FLOAT = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?M?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: dict[str, Any] = {"nil": None, "true": True, "false": False}
_DEEPEST = 100
_DIGITS_MAX = 100


class BadEdn(ValueError):
    """The text is no EDN: where, and why. `before`: the values that were read till then, those of
    a vector around all of them, too."""

    def __init__(self, said: str, before: Sequence[Any] = ()) -> None:
        super().__init__(said)
        self.before = tuple(before)


@dataclass(frozen=True, slots=True, repr=False)
class Word:
    """A keyword (`:ok`) or a symbol (`ok`), by its name as it is written."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(slots=True)
class _Open:
    """A collection that is not closed yet."""

    opening: str
    at: int
    items: list[Any]
    discards: int = 0  # of what follows, so many are to be passed over
    dangling_at: int | None = None  # where something stands that means what follows it


def read_all(text: str) -> list[Any]:
    """The values of a text, one after the other. A map is a dict, every other collection a tuple
    (a set's in its order)."""
    stack = [_Open("", 0, [])]
    try:
        _read(text, stack)
    except BadEdn as error:
        around = len(stack) > 1 and not stack[0].items and stack[1].opening in ("[", "(")
        raise BadEdn(str(error), stack[1 if around else 0].items) from None
    return stack[0].items


def _read(text: str, stack: list[_Open]) -> None:
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise BadEdn(f"{_place(text, at)}: {brief(text[at : at + 20])} begins nothing")
        kind, word = str(token.lastgroup), token.group()
        if kind == "open":
            if len(stack) > _DEEPEST:
                raise BadEdn(f"{_place(text, at)}: it is nested too deeply")
            stack.append(_Open(word, at, []))
        elif kind in ("discard", "tag"):
            stack[-1].discards += kind == "discard"
            stack[-1].dangling_at = at
        elif kind == "close":
            _keep(stack, _closed(stack, word, text, at))
        elif kind != "gap":
            _keep(stack, _value(kind, word, text, at))
        at = token.end()
    if len(stack) > 1:
        raise BadEdn(f"{_place(text, stack[-1].at)}: what is opened here is never closed")
    _check_paid(stack[-1], text)


def written(value: Any) -> str:
    """A value as one text: no two different values have the same one."""
    match value:
        case str():
            return value if not _means_something_else(value) else f'"{value}"'
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case Word():
            return value.name
        case tuple():
            return f"[{' '.join(map(written, value))}]"
        case dict():
            pairs = sorted(f"{written(key)} {written(each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
    return str(value)


def _means_something_else(text: str) -> bool:
    token = _TOKEN.fullmatch(text)
    if token is None or token.lastgroup != "atom":
        return True
    plain = _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text) or text in _CONSTANTS
    return bool(plain) or text.startswith(":")


def _keep(stack: list[_Open], value: Any) -> None:
    if stack[-1].discards:
        stack[-1].discards -= 1
    else:
        stack[-1].items.append(value)
    if not stack[-1].discards:
        stack[-1].dangling_at = None


def _check_paid(ended: _Open, text: str) -> None:
    if ended.dangling_at is not None:
        raise BadEdn(f"{_place(text, ended.dangling_at)}: what this is for does not follow")


def _closed(stack: list[_Open], word: str, text: str, at: int) -> Any:
    if _CLOSES.get(stack[-1].opening) != word:
        raise BadEdn(f"{_place(text, at)}: {brief(word)} closes nothing that is open")
    _check_paid(stack[-1], text)
    whole = stack.pop()
    if whole.opening != "{":
        return tuple(whole.items)
    if len(whole.items) % 2:
        raise BadEdn(f"{_place(text, whole.at)}: this map has a key without a value")
    keys, values = whole.items[::2], whole.items[1::2]
    try:
        found = dict(zip(keys, values, strict=True))
    except TypeError:  # a map as a key
        found = dict(zip(map(written, keys), values, strict=True))
    if len(found) < len(keys):
        raise BadEdn(f"{_place(text, whole.at)}: this map has a key twice")
    return found


def _value(kind: str, word: str, text: str, at: int) -> Any:
    if kind == "string":
        inner = word.removeprefix("#")[1:-1]
        plain = re.sub(r"\\(u[0-9A-Fa-f]{4}|.)", _unescaped, inner, flags=re.DOTALL)
        # Java tells a character of two halves half by half.
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if kind in ("char", "number") or word.startswith(":"):
        return Word(word)
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if len(word) > _DIGITS_MAX and word.rstrip("NM")[-1:].isdigit():
        raise BadEdn(f"{_place(text, at)}: this number is too long")
    if _INTEGER.fullmatch(word):
        return int(word.rstrip("N"))
    if _FLOAT.fullmatch(word):
        return float(word.rstrip("M"))
    return Word(word)


def _unescaped(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return _ESCAPES.get(escaped, escaped)


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at)
    return f"line {line + 1}, column {at - (text.rfind(chr(10), 0, at) + 1) + 1}"
