"""evidence.toml beside published pages: each raw pack by its size and SHA-256, present or removed.

1. Packs are named by their path from the folder of the pages. The list is sorted by that path.
2. `kept` says why a pack still lies in the repository: "finding" or "until removed". A pack
   without `kept` was removed; fetch.py brings it from elsewhere.
3. A pack that is not on the list is a user's own: its page is made from the pack itself.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.campaigns.run_marts import SUFFIX as MARTS_SUFFIX
from harness.outside.files import TOML_BYTES_MAX, Unreadable, is_file, text_of
from harness.plan.problems import PlanError, Problem
from harness.plan.toml_problems import validated
from harness.run_folder.packing import SUFFIX
from spark_analysis.schema.writing import write_whole

NAME = "evidence.toml"
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
    """Replace the list."""
    entries = ["\n".join(_entry(one)) for one in sorted(packs, key=lambda one: one.file)]
    text = "\n\n".join([_HEAD.rstrip("\n"), *entries]) + "\n"
    write_whole(folder / NAME, text)


def _entry(one: Pack) -> Iterator[str]:
    yield "[[pack]]"
    yield from (f"{name} = {json.dumps(value)}" for name, value in one if value is not None)
