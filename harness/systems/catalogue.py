"""The systems and layouts that can be put under test, read from their TOML files.

1. A layout is named `NAME@PROFILE`; `NAME` alone means its first profile. A path to a file of the
   user's own (`mine.toml`, `mine.toml@T=60`) is taken wherever a name is.
2. All mistakes of a file are reported at once, each with its place and, if there are some, the
   valid choices.
3. A layout may be like another one (likeness.py), and say only what differs.
4. A host's address is its own name here, unless its deployment gave it another one.
5. A system that lists a deployment declares how it runs there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from faults.kinds import KINDS
from harness.outside.files import TOML_BYTES_MAX, Unreadable, is_file, text_of
from harness.outside.text import brief
from harness.plan.checks.demands import DEMANDS
from harness.plan.clients import registry as clients
from harness.plan.clients.registry import joined, problem
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import (
    FOUND_MAX,
    MISSING,
    TomlProblem,
    document_of,
    located,
    of_shape,
)
from harness.plan.layouts.versions import Versions
from harness.plan.model import Layout, System, split_label
from harness.plan.operations import OPERATIONS
from harness.plan.problems import CHECK_PATH, PlanError, Problem, nearest, unknown
from harness.systems.core.likeness import LIKE, LikenessError, whole
from harness.systems.layout_parts import AsList, Name, Names
from harness.systems.port import Declaration, LayoutFile
from harness.systems.rabbitmq.core.layouts import Handling
from harness.systems.registry import registry

FLAG = "--layout"
EXPECTED = "the TOML file of a layout, or a name of `mqproof list layouts`"


class CatalogueError(PlanError):
    """A name that nothing bears, or a file with mistakes; `problems` has the valid choices."""


def system_names() -> tuple[str, ...]:
    """All systems of this installation, sorted."""
    return tuple(sorted(registry().systems))


def load_system(name: str) -> System:
    """Raises CatalogueError."""
    document = _read_system(name)
    own = _declared(name)
    return System(
        name=document.name,
        title=document.title,
        default_layout=document.default_layout,
        clients=joined(document.clients),
        deployments=document.deployments,
        guarantees=own.guarantees,
        servers=own.servers,
        drain=own.drain,
        alarms=None if own.containers is None else own.containers.alarms,
        misbehaves=own.misbehaves,
        levels=own.levels,
        ways=own.ways,
        policy_keys=document.policy_keys,
        cannot=document.cannot,
        cannot_by=document.cannot_by,
        cannot_handle=document.cannot_handle,
        direct_peers=document.direct_peers,
        by_hand=document.by_hand,
        facts=own.facts,
        versions=None
        if document.versions is None
        else document.versions.versions(
            own.containers is not None and own.containers.users_image is not None
        ),
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
    _choose(f"profile of layout {document.name}", profile, tuple(document.profiles), FLAG)
    return document.layout(system, profile)


def as_shipped(system: str, name: str) -> Layout | None:
    """A built-in layout with the timers that its product comes with; None where no file says so.

    `name`: without a profile.
    """
    if system not in system_names() or name not in {one.stem for one in _layout_files(system)}:
        return None
    profile = _read_system(system).shipped_profile
    path, _ = _find(system, name)
    document = _read_layout(system, path)
    return document.layout(system, profile) if profile in document.profiles else None


def is_path(word: str) -> bool:
    """Whether a word means a file of the user's own, not a name."""
    return "/" in word or word.endswith(".toml")


def split_profile(word: str) -> tuple[str, str]:
    """The layout or the file that a word means, and its profile or an empty string. A folder on
    the way to a file may have the mark in its name."""
    folder, slash, last = word.rpartition("/")
    name, profile = split_label(last)
    return f"{folder}{slash}{name}", profile


def _find(system: str, word: str) -> tuple[Path, str]:
    """The file that a word means, and the profile that it names or an empty string."""
    name, profile = split_profile(word)
    if is_path(name):
        if not is_file(Path(name)):
            text = f"there is no layout file {name}"
            raise CatalogueError([Problem(FLAG, text, expected=EXPECTED, advice=CHECK_PATH)])
        return Path(name), profile
    files = {path.stem: path for path in _layout_files(system)}
    if name not in files:
        _choose(f"layout of {system}", word, layout_names(system))
    return files[name], profile


def _layout_files(system: str) -> list[Path]:
    files = (_declared(system).folder() / "layouts").glob("*.toml")
    return sorted(files, key=lambda path: path.stem)


def spoilt() -> Mapping[str, str]:
    """Return by name why a system of another package cannot be used."""
    return registry().spoilt


def _declared(name: str) -> Declaration:
    """Raises CatalogueError."""
    found = registry()
    if name in found.spoilt and name not in found.systems:
        raise CatalogueError([Problem("", found.spoilt[name], tuple(found.systems))])
    _choose("system", name, system_names())
    return found.systems[name]


def _choose(what: str, word: str, choices: Sequence[str], place: str = "") -> None:
    if word not in choices:
        raise CatalogueError([unknown(place, what, word, choices)])


# --- the files' own shape ---------------------------------------------------------------------

Deployment = Literal["local", "compose", "external"]


def _kind(word: str) -> str:
    known = (*KINDS, *OPERATIONS, *DEMANDS)
    if word not in known:
        text = f"there is no fault, operation or demand {brief(word)}"
        raise ValueError(f"{text}; there are {', '.join(known)}")
    return word


def _fault(word: str) -> str:
    if word not in KINDS:
        raise ValueError(f"there is no fault {brief(word)}; there are {', '.join(KINDS)}")
    return word


def _handling(word: str) -> str:
    if word not in get_args(Handling):
        raise ValueError(f"no partition handling; choose one of {', '.join(get_args(Handling))}")
    return word


def _deployment(word: str) -> str:
    if word not in get_args(Deployment):
        raise ValueError(f"no deployment; choose one of {', '.join(get_args(Deployment))}")
    return word


def _clients(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        if word not in clients.registry().clients:
            raise ValueError(str(problem(word, place="")))
    return words


class _VersionsFile(Table):
    product: Name
    known: Names
    cannot_from: dict[str, str] = Field(default_factory=dict)
    cannot_before: dict[str, str] = Field(default_factory=dict)
    any_from: str = ""

    def versions(self, takes_images: bool) -> Versions:
        return Versions(
            product=self.product,
            known=self.known,
            cannot_from=self.cannot_from,
            cannot_before=self.cannot_before,
            any_from=self.any_from,
            takes_images=takes_images,
        )


class _SystemFile(Table):
    name: Name
    title: str
    default_layout: Annotated[str, Field(pattern=r"^[^@]+@[^@]+$")]
    clients: Annotated[Names, AfterValidator(_clients)]
    deployments: Annotated[tuple[Deployment, ...], Field(min_length=1), AsList]
    processes: Annotated[tuple[str, ...], AsList] = ()  # of each host, where all carry the same
    by_hand: bool = False  # whether `mqproof up` starts it if no system is named
    shipped_profile: str = ""  # of its layouts: the one with the product's own timers
    versions: _VersionsFile | None = None
    policy_keys: Names = ()  # that set_policy may use
    cannot: dict[Annotated[str, AfterValidator(_kind)], str] = Field(default_factory=dict)
    cannot_by: dict[
        Annotated[str, AfterValidator(_deployment)],
        dict[Annotated[str, AfterValidator(_fault)], str],
    ] = Field(default_factory=dict)
    cannot_handle: dict[Annotated[str, AfterValidator(_handling)], str] = Field(
        default_factory=dict
    )
    direct_peers: dict[Annotated[str, AfterValidator(_deployment)], str] = Field(
        default_factory=dict
    )


_File = TypeVar("_File", bound=BaseModel)


@cache
def _read_system(name: str) -> _SystemFile:
    """Those that come with mqproof are read once in a process."""
    own = _declared(name)
    path = own.folder() / "system.toml"
    source = _source(path)
    file, found = _shaped(_document(path, source), _SystemFile)
    found += _undeclared(own, file.deployments if file else ())
    _refuse(found, source, path)
    assert file is not None, "nothing is wrong with it"
    return file


def _undeclared(own: Declaration, deployments: Iterable[Deployment]) -> Iterator[TomlProblem]:
    """Those that the declaration has nothing for."""
    parts: Mapping[Deployment, tuple[str, object]] = {
        "local": ("processes", own.processes),
        "compose": ("containers", own.containers),
        "external": ("foreign", own.foreign),
    }
    for word in deployments:
        part, declared = parts[word]
        if declared is None:
            text = f"lists {word!r}, for which the declaration of {own.name} has no {part!r}"
            yield TomlProblem(("deployments",), text)


def _read_layout(system: str, path: Path) -> LayoutFile:
    """A user's own may be another file by now; a built-in one is not."""
    built_in = path in _layout_files(system)
    return _read_built_in(system, path) if built_in else _read(system, path)


@cache
def _read_built_in(system: str, path: Path) -> LayoutFile:
    return _read(system, path)


def _read(system: str, path: Path) -> LayoutFile:
    table, own = _read_system(system), _declared(system)
    source = _source(path)
    document, found = _whole(system, _document(path, source))
    # Missing keys of an unknown layout are not reported.
    unknown = LIKE in document
    file, others = _shaped({k: v for k, v in document.items() if k != LIKE}, own.layout_file)
    readable = own.layout_file.readable(document) if unknown or file is None else file
    found += islice(cast(LayoutFile, readable).problems(table.processes), FOUND_MAX)
    found += [one for one in others if not unknown or one.text != MISSING]
    _refuse(found, source, path)
    assert file is not None, "nothing is wrong with it"
    return cast(LayoutFile, file)


def _whole(system: str, document: dict[str, Any]) -> tuple[dict[str, Any], list[TomlProblem]]:
    """Return it with the keys of the layout that it is like; unchanged if that is unknown."""
    if LIKE not in document:
        return document, []
    try:
        return whole(document, _built_in_documents(system)), []
    except LikenessError as error:
        word = str(document[LIKE])
        text, choices = str(error), tuple(error.choices)
        return document, [TomlProblem((LIKE,), text, choices, nearest(word, choices))]


@cache
def _built_in_documents(system: str) -> Mapping[str, dict[str, Any]]:
    return {path.stem: _document(path, _source(path)) for path in _layout_files(system)}


def _shaped(
    document: Mapping[str, Any], shape: type[_File]
) -> tuple[_File | None, list[TomlProblem]]:
    try:
        return shape.model_validate(document), []
    except ValidationError as errors:
        return None, list(islice(of_shape(errors, shape), FOUND_MAX))


def _refuse(found: Sequence[TomlProblem], source: str, path: Path) -> None:
    """Raises CatalogueError if anything was found."""
    if found:
        raise CatalogueError(located(found, source, str(path)))


def _source(path: Path) -> str:
    try:
        return text_of(path, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise CatalogueError([Problem(str(path), f"cannot be read: {reason}")]) from None


def _document(path: Path, source: str) -> dict[str, Any]:
    try:
        return document_of(source, str(path))
    except PlanError as error:
        raise CatalogueError(error.problems) from None
