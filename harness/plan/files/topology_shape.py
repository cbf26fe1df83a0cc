"""The parts that topology files of all systems share, and the file of one family.

1. The shape checks every key by itself. `problems` of tables, the family's own ones too, and
   topology_toml.py check several keys together.
2. An unknown key is an error; nothing is converted silently.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Annotated, Literal, Protocol
from urllib.parse import SplitResult, urlsplit

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.files import spans
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.topology import EMBEDDED, Tls, Topology
from harness.plan.problems import nearest

BROKERS_MAX = 20
OWN_VARIABLES = "MQPROOF_"
_HOST_NAME = r"^[a-z][a-z0-9-]{0,30}$"  # it becomes a part of the names of listeners and workers
_URL_MAX, _TEXT_MAX, _WORDS_MAX = 1000, 4096, 64
_VIRTUAL_HOST_MAX = 127
_ADDRESS = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,253}[A-Za-z0-9_.])?")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20})://")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_DEADLINE_S = (0.5, 600.0)


def _way(value: object) -> tuple[str, int]:
    """`address:port` -> both; of an IPv6 address, in brackets."""
    if isinstance(value, str) and (scheme := _SCHEME.match(value)):
        raise ValueError(_no_url(scheme[1].lower(), "@" in value))
    host, colon, port = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if "@" in host or "/" in host:
        raise ValueError("must be ADDRESS:PORT; credentials never stand in this file")
    if not colon or not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
        raise ValueError(f"must be ADDRESS:PORT, not {brief(value)}")
    if host.startswith("[") and host.endswith("]") and _is_ipv6(host[1:-1]):
        return host[1:-1], int(port)
    if not _ADDRESS.fullmatch(host):
        raise ValueError(f"must be ADDRESS:PORT, of IPv6 [ADDRESS]:PORT, not {brief(value)}")
    return host, int(port)


def _no_url(scheme: str, has_user: bool) -> str:
    """Why a URL is not taken where an address is wanted."""
    if has_user:
        return "must be ADDRESS:PORT; credentials never stand in this file"
    if scheme.endswith("s") or scheme in ("ssl", "tls"):  # schemes with TLS end with an s
        return (
            f'{scheme}:// is TLS: write {scheme} = "ADDRESS:PORT" instead, and say in a table '
            "[tls] which authority is trusted"
        )
    return f"must be ADDRESS:PORT, without {scheme}://"


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def _address(value: object) -> str:
    if isinstance(value, str) and (_ADDRESS.fullmatch(value) or _is_ipv6(value)):
        return value
    raise ValueError(f"must be an address without a port, not {brief(value)}")


def _server_name(value: object) -> str:
    if isinstance(value, str) and (_ADDRESS.fullmatch(value) or _is_ipv6(value)):
        return value
    raise ValueError(f"must be the name that the broker's certificate holds, not {brief(value)}")


def _virtual_host(value: object) -> str:
    if isinstance(value, str) and 0 < len(value) <= _VIRTUAL_HOST_MAX and value.isprintable():
        return value
    raise ValueError(f"must be a name of 1 to {_VIRTUAL_HOST_MAX} characters, not {brief(value)}")


def _url(value: object) -> str:
    short = isinstance(value, str) and len(value) <= _URL_MAX
    parts = urlsplit(str(value)) if short else urlsplit("")
    if parts.username is not None or parts.password is not None:
        raise ValueError("credentials never stand in this file")
    host, rest = parts.hostname or "", parts.query or parts.fragment
    known = _ADDRESS.fullmatch(host) or _is_ipv6(host)
    if parts.scheme not in ("http", "https") or not known or rest or not _has_port(parts):
        raise ValueError(f"must be http://ADDRESS:PORT or https://..., not {brief(value)}")
    return parts.geturl().rstrip("/")


def _has_port(parts: SplitResult) -> bool:
    """Or none, which is the scheme's own."""
    try:
        return parts.port is None or parts.port > 0
    except ValueError:  # no number, or too large
        return False


def _variable(value: object) -> str:
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise ValueError("must be the name of an environment variable: letters, digits, _")
    if value.startswith(OWN_VARIABLES):
        raise ValueError(f"variables that begin {OWN_VARIABLES} are mqproof's own")
    return value


def in_seconds(value: object, least: float, most: float) -> float:
    """Return a span of time. Raise ValueError."""
    found = spans.parse_seconds(value)
    if not least <= found <= most:
        raise ValueError(f"must be from {least:g} s to {most:g} s, not {brief(value)}")
    return found


def seconds(least: float, most: float) -> BeforeValidator:
    """Of a key that is a span of time."""
    return BeforeValidator(lambda value: in_seconds(value, least, most))


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        raise ValueError('must be a list of words, for no shell reads it: ["program", "word"]')
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    if not words or words != value or not words[0] or any("\0" in word for word in words):
        raise ValueError("must be a list of words, the program first")
    if len(words) > _WORDS_MAX or any(len(word) > _TEXT_MAX for word in words):
        text = f"must have {_WORDS_MAX} words at most, of {_TEXT_MAX:,} characters each"
        raise ValueError(text)
    return tuple(words)


HostName = Annotated[str, Field(pattern=_HOST_NAME)]
Way = Annotated[tuple[str, int], BeforeValidator(_way), Field(title="`ADDRESS:PORT`")]
Url = Annotated[str, BeforeValidator(_url), Field(title="URL")]
ServerName = Annotated[str, BeforeValidator(_server_name), Field(title="host name")]
VirtualHost = Annotated[str, BeforeValidator(_virtual_host), Field(title="text")]
Variable = Annotated[str, BeforeValidator(_variable), Field(title="environment variable")]
Words = Annotated[tuple[str, ...], BeforeValidator(_words), Field(title="list of words")]
Text = Annotated[str, Field(min_length=1, max_length=_TEXT_MAX)]
Title = Annotated[str, Field(min_length=1, max_length=200)]


class TopologyTable(Table):
    """A table of a topology file."""


class CommandTable(TopologyTable):
    do: Words = Field(description="injects the fault")
    undo: Words = Field(description="ends the fault; must be harmless if it runs twice")
    verify: Words = Field(
        default=(),
        description="says whether the fault is active; without it no claim of a run can PASS",
    )
    deadline: Annotated[float, seconds(*_DEADLINE_S)] = Field(
        default=30.0, title="0.5 s to 10 min", description="limits each of the commands"
    )


class BrokerCommandsTable(TopologyTable):
    """What a [[broker]] table of every family has: its owner's commands, by kind of fault."""

    kill: CommandTable | None = Field(
        default=None, description="commands; without it mqproof may not kill this broker"
    )
    stop: CommandTable | None = Field(
        default=None,
        description="commands; without it mqproof may not stop this broker. If the broker does "
        "not answer at the end of a run, mqproof starts it by this `undo`, or else that of `kill`",
    )
    freeze: CommandTable | None = Field(
        default=None, description="commands; without it mqproof may not freeze this broker"
    )
    partition: CommandTable | None = Field(
        default=None,
        description="commands that cut this host off from the other brokers, not from clients; "
        "without it mqproof may not partition it",
    )
    black_hole: CommandTable | None = Field(
        default=None,
        description="commands that drop every packet of this host, clients' too; without it "
        "mqproof may not isolate it",
    )
    reboot: CommandTable | None = Field(
        default=None,
        description="commands that take this host's power and give it back; without it mqproof "
        "may not reboot it",
    )


class CredentialsTable(TopologyTable):
    user: Variable = Field(description="the variable with the user name")
    password: Variable = Field(description="the variable with the password")


class TlsTable(TopologyTable):
    ca: Text = Field(
        description="a file with the certificates of trusted authorities (PEM), or `system`: "
        "those that this machine trusts. A relative path begins in the folder that mqproof starts "
        "in",
    )
    certificate: Text | None = Field(
        default=None, description="a file with the client's certificate, if brokers demand one"
    )
    key: Text | None = Field(
        default=None,
        description="a file with its private key, without a passphrase; without it the key is in "
        "the certificate's file",
    )

    def value(self) -> Tls:
        return Tls(self.ca, self.certificate or "", self.key or "")


class ProxyTable(TopologyTable):
    start: Text | None = Field(
        default=None,
        description="`embedded`, or the path of a `toxiproxy-server` that mqproof starts",
    )
    at: Way | None = Field(
        default=None,
        title="`ADDRESS:PORT`",
        description="the API of a Toxiproxy that already runs",
    )
    listen: Annotated[str, BeforeValidator(_address)] | None = Field(
        default=None, title="address", description="with `at`: the address of its listeners"
    )

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together."""
        if ("start" in self.given) == ("at" in self.given):
            text = "either mqproof starts a proxy, or it uses one that is there"
            starts = 'start = "embedded"', 'start = "/path/to/toxiproxy-server"'
            yield TomlProblem(("proxy",), text, (*starts, 'at = "HOST:PORT"'))
        if "listen" in self.given and "at" not in self.given:
            text = "only a proxy that is there listens elsewhere; one of ours does on loopback"
            yield TomlProblem(("proxy", "listen"), text)
        if self.start and self.start != EMBEDDED and nearest(self.start, (EMBEDDED,)):
            text = f"{brief(self.start)} would be run as a program"
            programs = (f'"{EMBEDDED}"', '"/path/to/toxiproxy-server"')
            yield TomlProblem(("proxy", "start"), text, programs, EMBEDDED)


class WorkersTable(TopologyTable):
    place: Literal["local"] = Field(
        default="local", description="publishers and consumers run on this machine"
    )


# --- one family's ----------------------------------------------------------------------------


class TopologyFile(Protocol):
    """A whole file, and the topology that it becomes.

    It has title, system, credentials, workers, proxy and [[broker]] with host and commands, as
    above, and the family's own keys. `problems` checks several of these together in what is
    readable of a file (Table.readable); the shape finds missing and ill-typed ones.
    """

    def topology(self, name: str, source: str) -> Topology: ...

    def problems(self) -> Iterator[TomlProblem]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyShape:
    """A family's part of topology files."""

    file: type[TopologyTable]  # a TopologyFile
