"""Common parts of all systems' layout files: names, lists of hosts, their checks.

1. What TOML has as a list is a tuple here.
2. `problems` of a layout file checks several keys together. It works on a file that is read in
   part, too (plan/files/tables.py), so that all problems are reported at once.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from faults.core.mechanisms import DIRECT, TOXIPROXY
from harness.outside.text import brief
from harness.plan.files.tables import Table
from harness.plan.files.targets import parse_target
from harness.plan.files.toml_problems import TomlProblem

HOSTS_MAX = 20
PROXIED_HOSTS_MAX = 8  # their ways need addresses of the proxy (deploy/compose/peer_ways.py)
NAMES_MAX = 32
PROFILES_MAX = 32
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


def host_problems(hosts: Sequence[Table]) -> Iterator[TomlProblem]:
    """Yield names that two hosts have, or that mean something else."""
    seen: set[str] = set()
    for place, host in enumerate(hosts):
        name = host.given.get("name")
        if not isinstance(name, str):
            continue
        path = ("hosts", place, "name")
        if name in seen:
            text = f"every host needs a name of its own; {brief(name)} is another's"
            yield TomlProblem(path, text)
        elif name in _TAKEN or _is_word(name):
            text = f"no host may be called {brief(name)}: it means something else"
            yield TomlProblem(path, text)
        seen.add(name)


def peer_problems(peer_links: PeerLinks, hosts: int) -> Iterator[TomlProblem]:
    """Yield that there are more hosts than there are ways for."""
    if peer_links == TOXIPROXY and hosts > PROXIED_HOSTS_MAX:
        text = (
            f"{hosts} hosts have more ways than the proxy has addresses for: at most "
            f"{PROXIED_HOSTS_MAX} hosts, or {DIRECT!r}"
        )
        yield TomlProblem(("peer_links",), text)


def _is_word(name: str) -> bool:
    """Whether a scenario that says it would mean somebody else."""
    try:
        return parse_target(name).host != name
    except ValueError:
        return False  # no name at all: the shape says so
