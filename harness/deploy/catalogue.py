"""The systems and layouts that can be put under test, read from their TOML files.

1. A layout is named `NAME@PROFILE`; `NAME` alone means its first profile. A path to a file of the
   user's own (`mine.toml`, `mine.toml@T=60`) is taken wherever a name is.
2. Every mistake of a file is told at once, each with its place and, where there are some, the
   valid choices.
3. A layout may be like another one (likeness.py), and say only what differs.
4. A host's address is its own name here; a deployment that gave it another says so itself.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from faults.kinds import DIRECT, KINDS, TOXIPROXY
from harness.deploy.files import compose_folder
from harness.deploy.layout_parts import HOSTS_MAX, HostName, Name, Names, Strict, distinct
from harness.deploy.likeness import LIKE, LikenessError, whole
from harness.deploy.peer_ways import HOSTS_MAX as PROXIED_HOSTS_MAX
from harness.deploy.rocketmq_layouts import RocketLayoutFile
from harness.plan.model import Host, Layout, PauseIfAllDown, Policy, System
from harness.plan.operations import OPERATIONS


class CatalogueError(Exception):
    """A name that nothing bears, or a file with mistakes; the text holds the valid choices."""


def system_names() -> tuple[str, ...]:
    """All systems of this installation, sorted."""
    return tuple(sorted(path.parent.name for path in compose_folder().glob("*/system.toml")))


def load_system(name: str) -> System:
    """Raises CatalogueError."""
    _choose("system", name, system_names())
    document = _read(compose_folder() / name / "system.toml", _SystemFile)
    return System(
        name=document.name,
        title=document.title,
        default_layout=document.default_layout,
        clients=document.clients,
        deployments=document.deployments,
        cannot=document.cannot,
        cannot_handle=document.cannot_handle,
        direct_peers=document.direct_peers,
    )


def layout_names(system: str) -> tuple[str, ...]:
    """Every built-in layout of a system with every profile: `all-automatic@T=10`."""
    return tuple(
        f"{path.stem}@{profile}"
        for path in _layout_files(system)
        for profile in _read_layout(system, path).profiles
    )


def load_layout(system: str, word: str) -> Layout:
    """A built-in layout by its name, or a user's own by its path. Raises CatalogueError."""
    path, profile = _find(system, word)
    document = _read_layout(system, path)
    profile = profile or next(iter(document.profiles))
    _choose(f"profile of layout {document.name}", profile, tuple(document.profiles))
    return document.layout(system, profile)


def _find(system: str, word: str) -> tuple[Path, str]:
    """The file that a word means, and the profile that it names or an empty string."""
    name, _, profile = word.partition("@")
    if "/" in name or name.endswith(".toml"):
        if not Path(name).is_file():
            raise CatalogueError(f"there is no layout file {name}")
        return Path(name), profile
    files = {path.stem: path for path in _layout_files(system)}
    if name not in files:
        _choose(f"layout of {system}", word, layout_names(system))
    return files[name], profile


def _layout_files(system: str) -> list[Path]:
    _choose("system", system, system_names())
    files = (compose_folder() / system / "layouts").glob("*.toml")
    return sorted(files, key=lambda path: path.stem)


def _choose(what: str, word: str, choices: Sequence[str]) -> None:
    if word not in choices:
        raise CatalogueError(f"there is no {what} {word!r}; choose one of {', '.join(choices)}")


# --- the files' own shape ---------------------------------------------------------------------

Deployment = Literal["local", "compose", "external"]
Handling = Literal["ignore", "pause_minority", "pause_if_all_down", "autoheal"]


def _kind(word: str) -> str:
    known = (*KINDS, *OPERATIONS)
    if word not in known:
        raise ValueError(f"there is no fault or operation {word!r}; there are {', '.join(known)}")
    return word


def _handling(word: str) -> str:
    if word not in get_args(Handling):
        raise ValueError(f"no partition handling; choose one of {', '.join(get_args(Handling))}")
    return word


def _deployment(word: str) -> str:
    if word not in get_args(Deployment):
        raise ValueError(f"no deployment; choose one of {', '.join(get_args(Deployment))}")
    return word


class _SystemFile(Strict):
    name: Name
    title: str
    default_layout: Annotated[str, Field(pattern=r"^[^@]+@[^@]+$")]
    clients: Names
    deployments: Annotated[tuple[Deployment, ...], Field(min_length=1)]
    layouts: Literal["mirrored", "rocketmq"] = "mirrored"  # what its layout files say
    cannot: dict[Annotated[str, AfterValidator(_kind)], str] = Field(default_factory=dict)
    cannot_handle: dict[Annotated[str, AfterValidator(_handling)], str] = Field(
        default_factory=dict
    )
    direct_peers: dict[Annotated[str, AfterValidator(_deployment)], str] = Field(
        default_factory=dict
    )


class _HostFile(Strict):
    name: HostName
    processes: Names
    spare: bool = False  # it stands by itself until an operation adds it


class _PolicyFile(Strict):
    name: str
    pattern: str
    definition: dict[str, int | str]


class _ProfileFile(Strict):
    timer_s: Annotated[float, Field(gt=0)]


def _distinct_hosts(hosts: tuple[_HostFile, ...]) -> tuple[_HostFile, ...]:
    distinct([host.name for host in hosts])
    return hosts


class _PauseFile(Strict):
    hosts: Names  # as long as one of them is seen, nobody pauses
    recover: Literal["ignore", "autoheal"]


def _pause_of_hosts(pause: _PauseFile | None, info: ValidationInfo) -> _PauseFile | None:
    """Checked against what was right before it: keys that are wrong are told of themselves."""
    if {"hosts", "partition_handling"} - info.data.keys():
        return pause
    pauses = info.data["partition_handling"] == "pause_if_all_down"
    if pauses and pause is None:
        raise ValueError("partition_handling = 'pause_if_all_down' needs `hosts` and `recover`")
    if pause is not None and not pauses:
        raise ValueError("is only for partition_handling = 'pause_if_all_down'")
    names = [host.name for host in info.data["hosts"]]
    if unknown := [name for name in (pause.hosts if pause else ()) if name not in names]:
        raise ValueError(f"there is no host {', '.join(unknown)}; there are {', '.join(names)}")
    return pause


def _peers_of_hosts(links: str, info: ValidationInfo) -> str:
    hosts = info.data.get("hosts", ())
    if links == TOXIPROXY and len(hosts) > PROXIED_HOSTS_MAX:
        raise ValueError(
            f"{len(hosts)} hosts have more ways than the proxy has addresses for: at most "
            f"{PROXIED_HOSTS_MAX} hosts, or {DIRECT!r}"
        )
    return links


class _LayoutFile(Strict):
    name: Name
    title: str
    copies: Annotated[int, Field(ge=1)]
    synchronise: Literal["automatic", "manual", "none"]
    partition_handling: Handling
    hosts: Annotated[
        tuple[_HostFile, ...],
        Field(min_length=1, max_length=HOSTS_MAX),
        AfterValidator(_distinct_hosts),
    ]
    pause_if_all_down: Annotated[
        _PauseFile | None, AfterValidator(_pause_of_hosts), Field(validate_default=True)
    ] = None
    peer_links: Annotated[Literal["direct", "toxiproxy"], AfterValidator(_peers_of_hosts)] = (
        "direct"
    )
    entrance: Literal["hosts", "one", "haproxy", "haproxy-pair"] = "hosts"
    policies: tuple[_PolicyFile, ...] = ()
    profiles: Annotated[dict[str, _ProfileFile], Field(min_length=1)]

    @model_validator(mode="after")
    def _enough_hosts(self) -> "_LayoutFile":
        members = sum(not host.spare for host in self.hosts)
        if not members:
            raise ValueError("every host is a spare one: there is no cluster to add it to")
        if self.copies > members:
            raise ValueError(f"copies = {self.copies} on {members} hosts")
        return self

    @property
    def pause(self) -> PauseIfAllDown | None:
        found = self.pause_if_all_down
        return PauseIfAllDown(found.hosts, found.recover) if found else None

    def layout(self, system: str, profile: str) -> Layout:
        return Layout(
            name=self.name,
            profile=profile,
            system=system,
            title=self.title,
            hosts=self._hosts(spare=False),
            spares=self._hosts(spare=True),
            timer_s=self.profiles[profile].timer_s,
            copies=self.copies,
            synchronise=self.synchronise,
            partition_handling=self.partition_handling,
            pause_if_all_down=self.pause,
            peer_links=self.peer_links,
            entrance=self.entrance,
            policies=tuple(
                Policy(policy.name, policy.pattern, tuple(policy.definition.items()))
                for policy in self.policies
            ),
        )

    def _hosts(self, spare: bool) -> tuple[Host, ...]:
        return tuple(
            Host(host.name, host.name, host.processes)
            for host in self.hosts
            if host.spare is spare
        )


_AnyLayoutFile = _LayoutFile | RocketLayoutFile
_SHAPES: Mapping[str, type[_AnyLayoutFile]] = {"rocketmq": RocketLayoutFile}  # by system.toml

_File = TypeVar("_File", bound=BaseModel)


def _read(path: Path, shape: type[_File]) -> _File:
    return _checked(path, _document(path), shape)


def _read_layout(system: str, path: Path) -> _AnyLayoutFile:
    document, shape = _document(path), _shape(system)
    if LIKE not in document:
        return _checked(path, document, shape)
    try:
        built_in = {each.stem: _document(each) for each in _layout_files(system)}
        return _checked(path, whole(document, built_in), shape)
    except LikenessError as error:
        del document[LIKE]
        return _checked(path, document, shape, f"{path}: {LIKE}: {error}")


def _shape(system: str) -> type[_AnyLayoutFile]:
    said = _read(compose_folder() / system / "system.toml", _SystemFile).layouts
    return _SHAPES.get(said, _LayoutFile)


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"{path}: {error}") from error


def _checked(path: Path, document: dict[str, Any], shape: type[_File], first: str = "") -> _File:
    """`first`: a mistake that is known, by which keys are missing that are told of no more."""
    mistakes = [first] if first else []
    try:
        found = shape.model_validate(document)
    except ValidationError as error:
        mistakes += [
            f"{path}: {_place(mistake['loc'])}: {mistake['msg']}"
            for mistake in error.errors()
            if not first or mistake["type"] != "missing"
        ]
    if mistakes:
        raise CatalogueError("\n".join(mistakes))
    return found


def _place(parts: tuple[int | str, ...]) -> str:
    """`hosts[2].name`: where in the file."""
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.lstrip(".") or "the whole file"
