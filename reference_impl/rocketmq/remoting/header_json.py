"""A header as JSON.

1. Read liberally: a field that is a number or a boolean is the text that Java would have sent, a
   null is a field that is not there. The native client writes numbers.
2. Written strictly: every field is a string. The native client looks past what is none.
"""

from typing import Annotated, Any

import msgspec

from reference_impl.rocketmq.remoting.header import LANGUAGES, OTHER, Header, HeaderError

_Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]


class _Document(msgspec.Struct):
    code: _Int = 0
    opaque: _Int = 0
    flag: _Int = 0
    version: _Int = 0
    language: Any = None
    remark: str | None = None
    extFields: dict[str, str | int | float | bool | None] | None = None


_DECODER = msgspec.json.Decoder(_Document)
_ENCODER = msgspec.json.Encoder()
_NUMBERS = {name: number for number, name in enumerate(LANGUAGES)}


def read(octets: bytes) -> Header:
    """Raises HeaderError."""
    try:
        decoded = _DECODER.decode(octets)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HeaderError(f"no header in JSON: {error}: {octets[:80]!r}") from error
    fields = decoded.extFields or {}
    language = decoded.language
    return Header(
        decoded.code,
        decoded.opaque,
        decoded.flag,
        decoded.remark or "",
        {name: _text(value) for name, value in fields.items() if value is not None},
        _NUMBERS.get(language, OTHER) if isinstance(language, str) else OTHER,
        decoded.version,
    )


def write(header: Header) -> bytes:
    document = {
        "code": header.code,
        "extFields": dict(header.fields),
        "flag": header.flag,
        "language": LANGUAGES[header.language],
        "opaque": header.opaque,
        "serializeTypeCurrentRPC": "JSON",
        "version": header.version,
    }
    if header.remark:
        document["remark"] = header.remark
    return _ENCODER.encode(document)


def _text(value: str | float | bool) -> str:
    return value if isinstance(value, str) else _ENCODER.encode(value).decode()
