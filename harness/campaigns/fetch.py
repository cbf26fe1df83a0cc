"""Raw packs of published pages from where they are kept, one at a time, checked before use.

1. A source is a folder, an http(s) address to which a pack's name is added, or a git revision.
2. A pack is used only if its size and SHA-256 are those of evidence.toml.
3. At most one pack lies on the disk at a time, in a temporary folder.
"""

import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from harness.campaigns.evidence import Evidence, Pack, sha256_of
from harness.outside.files import is_file, is_folder
from harness.plan.problems import PlanError, Problem
from spark_analysis.schema.writing import FULL, naming

PLACE = "--evidence"
_SECONDS = 60
_BLOCK = 1 << 20
_WEB = ("https://", "http://")


@contextmanager
def fetched(one: Evidence, source: str) -> Iterator[Path]:
    """Bring the pack of `one` from `source`; it is removed afterwards. Raises PlanError."""
    if one.listed is None:
        text = f"{one.file} is not in evidence.toml: nothing says which pack is the right one"
        raise PlanError([Problem(PLACE, text)])
    with tempfile.TemporaryDirectory(prefix="mqproof-pack-") as place:
        into = Path(place) / one.pack.name
        _bring(one, one.listed, source, into)
        _check(one.listed, into, source)
        yield into


def _bring(one: Evidence, listed: Pack, source: str, into: Path) -> None:
    if source.startswith(_WEB):
        _download(f"{source.rstrip('/')}/{quote(one.pack.name)}", listed.size, into)
    elif is_folder(Path(source)):
        _copy(Path(source), one, into)
    else:
        _show(one, source, into)


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
    except (urllib.error.URLError, OSError, ValueError) as failure:
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
    size = path.stat().st_size
    if size != listed.size:
        text = f"has {size:,} bytes in {source}, and {listed.size:,} in evidence.toml"
        raise _missing(listed.file, text)
    if (digest := sha256_of(path)) != listed.sha256:
        text = f"has the SHA-256 {digest} in {source}, and {listed.sha256} in evidence.toml"
        raise _missing(listed.file, text)


def _missing(what: str, text: str) -> PlanError:
    return PlanError([Problem(PLACE, f"{what}: {text}")])
