"""The header of a command, whatever form it has on the wire."""

from collections.abc import Mapping

import msgspec

LANGUAGES = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
)  # the place is the number of the binary form
JAVA = LANGUAGES.index("JAVA")
OTHER = LANGUAGES.index("OTHER")
VERSION = 409  # V4_9_8
RESPONSE, ONEWAY = 1, 2  # bits of `flag`


class HeaderError(Exception):
    """Octets that are no command, with what is wrong about them. The connection is closed."""


class Header(msgspec.Struct, frozen=True):
    """`code`: of the request, or of the answer. `opaque`: the asker's number of the request."""

    code: int
    opaque: int
    flag: int
    remark: str
    fields: Mapping[str, str]
    language: int
    version: int
