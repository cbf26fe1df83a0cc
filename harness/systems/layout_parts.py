"""Common parts of all systems' layout files: strict tables, names, lists of hosts.

1. Nothing is converted silently: `"3"` is no number. What TOML has as a list is a tuple here.
2. Checks of several keys use the document itself, so that all mistakes are reported at once.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from faults.mechanisms import DIRECT, TOXIPROXY
from harness.outside.text import brief
from harness.plan.files.targets import parse_target
from harness.plan.files.toml_problems import TomlProblem

HOSTS_MAX = 20
PROXIED_HOSTS_MAX = 8  # their ways need addresses of the proxy (deploy/compose/peer_ways.py)
NAMES_MAX = 32
PROFILES_MAX = 32
TABLES_MAX = 64  # entries of one list that are looked at; the shape says that there are more
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")  # it becomes a part of names, labels and folders
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9=._-]{0,15}")  # no pattern and no path
_TAKEN = frozenset(
    {"agent", "toxiproxy", "workers", "clients", "balancer1", "balancer2", "localhost"}
)  # stand beside the hosts, or mean another on each of them


def _name(word: str) -> str:
    if not _NAME.fullmatch(word):
        raise ValueError(
            f"has small letters, digits and hyphens, at most 31, a letter first; not {brief(word)}"
        )
    return word


def _profile(word: str) -> str:
    if not _PROFILE.fullmatch(word):
        raise ValueError(
            f"a profile's name has letters, digits and = . _ -, at most 16; not {brief(word)}"
        )
    return word


Name = Annotated[str, AfterValidator(_name), Field(title="name")]
ProfileName = Annotated[str, AfterValidator(_profile)]
Title = Annotated[str, Field(min_length=1, max_length=200)]
AsList = Field(strict=False)  # of tuples: TOML knows lists
PeerLinks = Literal["direct", "toxiproxy"]
Short = Annotated[str, Field(max_length=255)]
Names = Annotated[tuple[Short, ...], Field(min_length=1, max_length=NAMES_MAX), AsList]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def tables(document: Mapping[str, Any], key: str) -> list[tuple[int, dict[str, Any]]]:
    """The entries of an array of tables with their places; what is none is left to the shape."""
    entries = document.get(key)
    listed = entries[:TABLES_MAX] if isinstance(entries, list) else []
    return [(place, entry) for place, entry in enumerate(listed) if isinstance(entry, dict)]


def words(value: object) -> list[str] | None:
    """A list of texts, or None for anything else."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return None
    return value[:TABLES_MAX]


def host_mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """Names that two hosts have, or that mean something else."""
    seen: set[str] = set()
    for place, host in tables(document, "hosts"):
        name = host.get("name")
        if not isinstance(name, str):
            continue
        path = ("hosts", place, "name")
        if name in seen:
            yield TomlProblem(
                path, f"every host needs a name of its own; {brief(name)} is another's"
            )
        elif name in _TAKEN or _is_word(name):
            yield TomlProblem(
                path, f"no host may be called {brief(name)}: it means something else"
            )
        seen.add(name)


def peer_mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """More hosts than there are ways for."""
    count = len(tables(document, "hosts"))
    if document.get("peer_links") == TOXIPROXY and count > PROXIED_HOSTS_MAX:
        yield TomlProblem(
            ("peer_links",),
            f"{count} hosts have more ways than the proxy has addresses for: at most "
            f"{PROXIED_HOSTS_MAX} hosts, or {DIRECT!r}",
        )


def _is_word(name: str) -> bool:
    """Whether a scenario that says it would mean somebody else."""
    try:
        return parse_target(name).host != name
    except ValueError:
        return False  # no name at all: the shape says so
