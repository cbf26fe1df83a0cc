"""JSON text as Go's encoding/json reads and writes it, with its words for what is wrong.

1. Only the first value of a text is read; what follows it is ignored, as Go's Decoder does.
2. A text is read to the end of that value before anything is made of it: errors of its grammar are
   reported before errors of its types.
3. Objects keep their fields in order, and all of them: the reader decides which of two wins.
4. Numbers stay text: whether 1.0 is an integer depends on what it is read into.
5. Written text escapes what HTML cares about; a float is written as a 32-bit one.
"""

import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DEPTH_MAX = 10_000
_SPACE = b" \t\r\n"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b"}
_ESCAPES |= {"\f": "\\f"}
_ESCAPED = re.compile('[\x00-\x1f"\\\\<>&\u2028\u2029]')
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_HEX = b"0123456789abcdefABCDEF"


@dataclass(frozen=True, slots=True)
class Number:
    text: str


@dataclass(frozen=True, slots=True)
class Object:
    fields: tuple[tuple[str, "Value"], ...]


Value = str | bool | None | Number | Object | list["Value"]
Written = (
    str | bool | int | float | None | Sequence["Written"] | Mapping[str, "Written"]
)  # what `write` takes


class JsonError(Exception):
    """The text is no JSON, in Go's words."""


def read(text: bytes) -> Value:
    """The first value of the text."""
    return _Reader(text).value()


def write(value: Written) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return f'"{_ESCAPED.sub(_escape, value)}"'
        case Mapping():
            return "{" + ",".join(f"{write(k)}:{write(v)}" for k, v in value.items()) + "}"
        case _:
            return "[" + ",".join(write(one) for one in value) + "]"


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _float(value: float) -> str:
    """The shortest decimal that is this 32-bit float."""
    wanted = struct.pack("f", value)
    digits = next(n for n in range(1, 10) if struct.pack("f", float(f"{value:.{n}g}")) == wanted)
    shortest = float(f"{value:.{digits}g}")
    if shortest == 0 or 1e-6 <= abs(shortest) < 1e21:
        places = max(0, digits - 1 - int(f"{shortest:e}".partition("e")[2])) if shortest else 0
        return f"{shortest:.{places}f}"
    mantissa, _, exponent = f"{shortest:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:].lstrip('0')}".replace("e-0", "e-")


class _Reader:
    """One pass over the text. What stands open is on a stack, so depth costs no recursion."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def value(self) -> Value:
        root: list[Value] = []
        opened: list[_Open] = [_Open(b"", root)]
        while True:
            innermost = opened[-1]
            if innermost.closer and self._closes(innermost):
                opened.pop()
                made = innermost.made()
            else:
                innermost.key = self._key() if innermost.closer == b"}" else ""
                begun = self._begin()
                if isinstance(begun, _Open):
                    opened.append(begun)
                    if len(opened) > DEPTH_MAX + 1:
                        raise JsonError("exceeded max depth")
                    continue
                made = begun
            opened[-1].take(made)
            if len(opened) == 1:
                return root[0]

    def _closes(self, innermost: "_Open") -> bool:
        """Is the innermost one over? If not, the comma before its next part is passed."""
        what = self._next()
        if what == innermost.closer:
            self._at += 1
            return True
        if not innermost.parts:
            return False
        if what != b",":
            kind = "array element" if innermost.closer == b"]" else "object key:value pair"
            raise self._wrong(f"after {kind}")
        self._at += 1
        return False

    def _key(self) -> str:
        if self._next() != b'"':
            raise self._wrong("looking for beginning of object key string")
        key = self._string()
        if self._next() != b":":
            raise self._wrong("after object key")
        self._at += 1
        return key

    def _begin(self) -> "Value | _Open":
        what = self._next()
        if what in (b"{", b"["):
            self._at += 1
            return _Open(b"}" if what == b"{" else b"]", [])
        if what == b'"':
            return self._string()
        if what == b"-" or what.isdigit():
            return self._number()
        for word, meaning in ((b"true", True), (b"false", False), (b"null", None)):
            if what == word[:1]:
                self._word(word)
                return meaning
        raise self._wrong("looking for beginning of value")

    def _word(self, word: bytes) -> None:
        for expected in word:
            if self._peek() != bytes([expected]):
                raise self._wrong(f"in literal {word.decode()} (expecting {_quoted(expected)})")
            self._at += 1

    def _number(self) -> Number:
        start = self._at
        if self._peek() == b"-":
            self._at += 1
        if self._here() == b"0":
            self._at += 1
        else:
            self._digits("in numeric literal")
        if self._here() == b".":
            self._at += 1
            self._digits("after decimal point in numeric literal")
        if self._here() in (b"e", b"E"):
            self._at += 1
            if self._here() in (b"+", b"-"):
                self._at += 1
            self._digits("in exponent of numeric literal")
        return Number(self._text[start : self._at].decode())

    def _digits(self, where: str) -> None:
        if not self._peek().isdigit():
            raise self._wrong(where)
        while self._here().isdigit():
            self._at += 1

    def _string(self) -> str:
        start = self._at
        self._at += 1
        while self._to_special() != b'"':
            if self._peek() != b"\\":
                raise self._wrong("in string literal")
            self._at += 1
            self._escape()
        self._at += 1
        text = self._text[start : self._at].decode(errors="replace")
        # Half a surrogate pair is no character; Go reads it as U+FFFD.
        made: str = json.loads(text)
        return made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _to_special(self) -> bytes:
        plain = _PLAIN.match(self._text, self._at)
        assert plain is not None
        self._at = plain.end()
        return self._peek()

    def _escape(self) -> None:
        kind = self._peek()
        if kind not in (b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t", b"u"):
            raise self._wrong("in string escape code")
        self._at += 1
        for _ in range(4 if kind == b"u" else 0):
            if self._peek() not in _HEX:
                raise self._wrong("in \\u hexadecimal character escape")
            self._at += 1

    def _next(self) -> bytes:
        while self._here() and self._here() in _SPACE:
            self._at += 1
        return self._peek()

    def _here(self) -> bytes:
        return self._text[self._at : self._at + 1]

    def _peek(self) -> bytes:
        if not (here := self._here()):
            raise JsonError("unexpected EOF" if self._text.strip(_SPACE) else "EOF")
        return here

    def _wrong(self, where: str) -> JsonError:
        return JsonError(f"invalid character {_quoted(self._text[self._at])} {where}")


class _Open:
    """An array or object that is not over, or (without a closer) the text itself."""

    def __init__(self, closer: bytes, parts: list[Value]) -> None:
        self.closer = closer
        self.parts = parts
        self.keys: list[str] = []
        self.key = ""

    def take(self, value: Value) -> None:
        self.parts.append(value)
        self.keys.append(self.key)

    def made(self) -> Value:
        if self.closer == b"]":
            return self.parts
        return Object(tuple(zip(self.keys, self.parts, strict=True)))


def _quoted(octet: int) -> str:
    """One byte as Go prints it: in single quotes, with Go's escapes."""
    character = chr(octet)
    if character == "'":
        return "'\\''"
    named = {"\a": "\\a", "\v": "\\v", "\\": "\\\\"} | {
        k: v for k, v in _ESCAPES.items() if k != '"'
    }
    if character in named:
        return f"'{named[character]}'"
    if character.isprintable():
        return f"'{character}'"
    return f"'\\x{octet:02x}'" if octet < 0x80 else f"'\\u{octet:04x}'"
