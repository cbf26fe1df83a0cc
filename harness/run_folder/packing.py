"""Runs packed into one file: what is needed to judge them again, and nothing else.

1. A pack holds experiment.json, the user's own claims, and of every run the manifest and the raw
   tables. Workers' and brokers' logs stay behind, so a damaged copy cannot be mended, only fetched
   again.
2. Only whole runs are packed, and what lies in the pack is what was sealed.
3. The same runs give the same bytes: files in order of their names, no times, no owners.
4. A pack appears whole or not at all.
"""

import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.outside.text import one_line
from harness.run_folder.manifest import NAME
from harness.run_folder.whole import NotWhole, whole
from spark_analysis.files.regular import content_of
from spark_analysis.files.sealed import RAW
from spark_analysis.files.writing import replacing

SUFFIX = ".tar.xz"
_MODE = 0o644


class NotPacked(Exception):
    """Runs that cannot be packed: each with its reason."""


def pack(name: str, documents: Mapping[str, str], runs: Sequence[Path], into: Path) -> Path:
    """Write `into`; it unpacks to the folder `name`. Raise NotPacked, OSError.

    `documents`: texts to place beside runs/, by name. `runs`: folders, by their paths in the pack.
    """
    _check(runs)
    files = {f"{name}/{where}": text.encode() for where, text in documents.items()}
    for run in runs:
        for path in (run / NAME, *(run / RAW).glob("*.parquet")):
            files[f"{name}/{path.relative_to(run.parent.parent)}"] = content_of(path)
    with (
        replacing(into) as partial,
        tarfile.open(partial, "w:xz", format=tarfile.PAX_FORMAT) as tar,
    ):
        for where in sorted(files):
            tar.addfile(_member(where, files[where]), io.BytesIO(files[where]))
    return into


def _check(runs: Sequence[Path]) -> None:
    reasons = []
    for run in runs:
        try:
            whole(run)
        except NotWhole as reason:
            reasons.append(one_line(str(reason)))
    if reasons:
        raise NotPacked("\n".join(reasons))


def _member(where: str, content: bytes) -> tarfile.TarInfo:
    """Return a file entry without owner and time; a TarInfo has both at 0 by itself."""
    member = tarfile.TarInfo(where)
    member.size, member.mode = len(content), _MODE
    return member
