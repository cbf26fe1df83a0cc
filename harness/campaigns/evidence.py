"""evidence.toml beside published pages: each raw pack by its size and SHA-256, present or removed.

1. Packs are named by their path from the folder of the pages. The list is sorted by that path.
2. `kept` says why a pack still lies in the repository: "finding" or "until removed". A pack
   without `kept` was removed; `fetched` brings it from elsewhere.
3. A pack that is not on the list is a user's own: its page is made from the pack itself.
4. A source of packs is a folder, an http(s) address to which a pack's name is added, or a git
   revision. A pack is used only if its size and SHA-256 are those of the list; at most one lies on
   the disk at a time, in a temporary folder.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from harness.campaigns.run_marts import SUFFIX as MARTS_SUFFIX
from harness.outside.files import TOML_BYTES_MAX, Unreadable, is_file, is_folder, text_of
from harness.plan.files.toml_problems import validated
from harness.plan.problems import PlanError, Problem
from harness.run_folder.packing import SUFFIX
from spark_analysis.files.writing import FULL, naming, write_whole

NAME = "evidence.toml"
PLACE = "--evidence"
_SECONDS = 60
_BLOCK = 1 << 20
_WEB = ("https://", "http://")
_HEAD = """\
# The raw packs that published pages are made from, by `mqproof campaign page` (README.md).
# `kept`: why a pack still lies in the repository. A pack without it was removed; `git show` or a
# release has it: mqproof campaign page PAGE --check --evidence SOURCE
"""


class Pack(BaseModel):
    """One raw pack. `kept` None: it was removed from the repository."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    file: Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)*\.tar\.xz$")]
    size: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    kept: Literal["finding", "until removed"] | None = None


class _EvidenceFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    pack: list[Pack]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a page is made from: one experiment. `listed` None: a user's own pack."""

    folder: Path  # of the page
    file: str  # of the pack, from there
    listed: Pack | None

    @property
    def pack(self) -> Path:
        return self.folder / self.file

    @property
    def marts(self) -> Path:
        return self.folder / f"{self.file.removesuffix(SUFFIX)}{MARTS_SUFFIX}"


def listed(folder: Path) -> dict[str, Pack]:
    """Return the packs of the list in `folder` by their files. Raises PlanError."""
    path = folder / NAME
    if not is_file(path):
        return {}
    try:
        source = text_of(path, TOML_BYTES_MAX)
    except Unreadable as failure:
        raise PlanError([Problem(str(path), f"cannot be read: {failure}")]) from None
    document = validated(_EvidenceFile, source, str(path))
    return {one.file: one for one in document.pack}


def matching(folder: Path, pattern: str) -> Iterator[Evidence]:
    """Find what a page's pattern names: packs on the list, and packs on the disk."""
    known = listed(folder)
    parts = len(PurePosixPath(pattern).parts)
    there = {path.relative_to(folder).as_posix() for path in folder.glob(pattern)}
    named = {
        file
        for file in known
        if len(PurePosixPath(file).parts) == parts and PurePosixPath(file).match(pattern)
    }
    for file in sorted(there | named):
        yield Evidence(folder, file, known.get(file))


def measured(pack: Path, file: str, kept: str | None) -> Pack:
    """Return the entry of a pack that lies on the disk. Raises OSError."""
    fields = {"file": file, "size": pack.stat().st_size, "sha256": sha256_of(pack), "kept": kept}
    return Pack.model_validate(fields)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(folder: Path, packs: Iterable[Pack]) -> None:
    text = _HEAD
    for one in sorted(packs, key=lambda one: one.file):
        fields = (f"{name} = {json.dumps(value)}\n" for name, value in one if value is not None)
        text += f"\n[[pack]]\n{''.join(fields)}"
    write_whole(folder / NAME, text)


@contextmanager
def fetched(one: Evidence, source: str) -> Iterator[Path]:
    """Bring the pack of `one` from `source`; it is removed afterwards. Raises PlanError."""
    if one.listed is None:
        text = f"{one.file} is not in evidence.toml: nothing says which pack is the right one"
        raise PlanError([Problem(PLACE, text)])
    with tempfile.TemporaryDirectory(prefix="mqproof-pack-") as place:
        into = Path(place) / one.pack.name
        if source.startswith(_WEB):
            _download(f"{source.rstrip('/')}/{quote(one.pack.name)}", one.listed.size, into)
        elif is_folder(Path(source)):
            _copy(Path(source), one, into)
        else:
            _show(one, source, into)
        _check(one.listed, into, source)
        yield into


def _copy(folder: Path, one: Evidence, into: Path) -> None:
    """A folder has packs in subfolders, as they are beside the pages, or all side by side."""
    places = [folder / one.file, folder / one.pack.name]
    there = next((place for place in places if is_file(place)), None)
    if there is None:
        raise _missing(one.file, f"there is neither {places[0]} nor {places[1]}")
    try:
        shutil.copyfile(there, into)
    except OSError as failure:
        place = into if failure.errno in FULL else there
        raise _missing(one.file, f"{place}: {failure.strerror}") from failure


def _download(url: str, size: int, into: Path) -> None:
    """Read one byte more than the pack has at most, so that no server can fill the disk."""
    left = size + 1
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer, into.open("wb") as file:
            while left and (block := answer.read(min(_BLOCK, left))):
                with naming(into):
                    file.write(block)
                left -= len(block)
    except (urllib.error.URLError, OSError, ValueError, HTTPException) as failure:
        raise _missing(url, str(failure)) from failure


def _show(one: Evidence, revision: str, into: Path) -> None:
    """Write a blob of git history. `./` makes git look beside the page, not in the root."""
    git = shutil.which("git")
    if git is None or revision.startswith("-"):
        text = (
            f"{revision!r} is no folder and no address, and git is not there or it is no revision"
        )
        raise PlanError([Problem(PLACE, text)])
    words = [git, "-C", str(one.folder), "cat-file", "blob", f"{revision}:./{one.file}"]
    with into.open("wb") as file:
        done = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        text = (
            f"git has no such file in {revision}: {said}. "
            "If the clone is shallow, fetch the history first: git fetch --unshallow"
        )
        raise _missing(one.file, text)


def _check(listed: Pack, path: Path, source: str) -> None:
    if (size := path.stat().st_size) != listed.size:
        text = f"has {size:,} bytes in {source}, and {listed.size:,} in evidence.toml"
        raise _missing(listed.file, text)
    if (digest := sha256_of(path)) != listed.sha256:
        text = f"has the SHA-256 {digest} in {source}, and {listed.sha256} in evidence.toml"
        raise _missing(listed.file, text)


def _missing(what: str, text: str) -> PlanError:
    return PlanError([Problem(PLACE, f"{what}: {text}")])
