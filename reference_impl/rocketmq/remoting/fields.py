"""A request's fields as the values that they stand for.

1. A field that has to be there and is not, or is no number, is the client's mistake: BadRequest,
   which becomes an answer of SYSTEM_ERROR with the same words.
2. What has a default may be left out. "true" is true, whatever its case, as Java's parseBoolean
   has it; the native client's "1" is not.
3. Which numbers are Java's Integer and which are its Long is as the real headers declare them.
"""

from collections.abc import Mapping

import msgspec

_INTEGER, _LONG = range(-(2**31), 2**31), range(-(2**63), 2**63)
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # of a JSON document


class BadRequest(Exception):
    """A request that lacks a field, or has a wrong one."""


class Fields:
    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def text(self, name: str, default: str | None = None) -> str:
        value = self._fields.get(name, default)
        if value is None:
            raise BadRequest(f"the custom field <{name}> is null")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        return self._number(name, default, _INTEGER)

    def long(self, name: str, default: int | None = None) -> int:
        return self._number(name, default, _LONG)

    def _number(self, name: str, default: int | None, fitting: range) -> int:
        value = self._fields.get(name)
        if not value:
            if default is None:
                raise BadRequest(f"the custom field <{name}> is null")
            return default
        try:
            number = int(value)
        except ValueError:
            raise BadRequest(f"the custom field <{name}> is no number: {value[:40]!r}") from None
        if number not in fitting:
            raise BadRequest(f"the custom field <{name}> is too large: {value[:40]}")
        return number

    def flag(self, name: str) -> bool:
        return self._fields.get(name, "").lower() == "true"
