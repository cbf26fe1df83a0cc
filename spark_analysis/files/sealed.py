"""The seal of a run's evidence, and the check of the evidence against it.

1. The manifest has rows and checksum of every raw table, lists the missing tables, and has a
   digest of itself. It is no signature: it shows damage, not forgery.
2. A run is whole or damaged. Every damage is reported with its file, and none is ignored.
3. A manifest without a seal belongs to a run that was never sealed, or sealed before there were
   checksums. It cannot be checked, and its judgement has to say so.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_analysis.files.regular import opened
from spark_analysis.schema.tables import TABLES

MANIFEST = "manifest.json"
RAW = "raw"
DIGEST, SEAL = "digest", "seal"  # keys of the manifest


@dataclass(frozen=True, slots=True)
class TableSeal:
    """A raw table as it was sealed."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Resealed:
    """Raw tables that were rebuilt from their logs: when, and what was wrong with the old ones."""

    at: str
    because: str


@dataclass(frozen=True, slots=True)
class Seal:
    """A run as it was sealed. `logs`: SHA-256 by path below the run's folder."""

    tables: Mapping[str, TableSeal | None]  # None: the run has no rows of it
    logs: Mapping[str, str]
    resealed: tuple[Resealed, ...] = ()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Seal":
        """Raises KeyError, TypeError or AttributeError on what is no seal."""
        return cls(
            {
                name: TableSeal(**table) if table is not None else None
                for name, table in document["tables"].items()
            },
            dict(document["logs"]),
            tuple(Resealed(**one) for one in document["resealed"]),
        )


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the digest of a manifest as JSON, whatever the order of its keys, without its own
    digest."""
    sealed = {key: value for key, value in document.items() if key != DIGEST}
    text = json.dumps(sealed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """Raises OSError."""
    with opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def altered(document: Mapping[str, Any]) -> bool:
    """Return whether a manifest differs from its digest. An old one without a digest does not."""
    if DIGEST not in document:
        return document.get(SEAL) is not None
    return bool(document[DIGEST] != digest_of(document))


def damages(folder: Path, document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the damages of a run's manifest or tables, each with its path; () if all is whole."""
    path = folder / MANIFEST
    if altered(document):
        return (f"{path} is not as it was written: its digest is another",)
    if document.get(SEAL) is None:
        return ()
    try:
        seal = Seal.from_json(document[SEAL])
    except (KeyError, TypeError, AttributeError) as failure:
        return (f"{path}: its seal cannot be read: {failure!r}",)
    return tuple(table_damages(folder, seal))


def table_damages(folder: Path, seal: Seal) -> Iterator[str]:
    """Return the damages of a run's raw tables, each with its path; it checks all tables."""
    for name in TABLES.keys() - seal.tables.keys():
        # Of a table that came later than this seal nothing can lie there.
        yield from _absent(_path(folder, name))
    for name, sealed in sorted(seal.tables.items()):
        path = _path(folder, name)
        yield from _absent(path) if sealed is None else _table(path, sealed)
    known = {*TABLES, *seal.tables}
    for path in _listed(folder / RAW):
        if path.suffix != ".parquet" or path.stem not in known:
            yield f"{path} was not there when the run was sealed"


def file_damages(folder: Path, sealed: Mapping[str, str], there: Iterable[Path]) -> Iterator[str]:
    """Yield the damages of files by their checksums. `there`: the files that exist now."""
    for path in sorted({folder / name for name in sealed} | set(there)):
        wanted = sealed.get(str(path.relative_to(folder)))
        if wanted is None:
            yield f"{path} was not there when the run was sealed"
            continue
        try:
            if sha256_of(path) != wanted:
                yield f"{path} is not what was sealed: its checksum is another"
        except OSError as failure:
            yield _unread(path, failure)


def _path(folder: Path, table: str) -> Path:
    return folder / RAW / f"{table}.parquet"


def _listed(raw: Path) -> list[Path]:
    """Return the files in the folder. If the folder itself is gone, each of its tables is reported
    missing."""
    return sorted(raw.iterdir()) if raw.is_dir() else []


def _absent(path: Path) -> Iterator[str]:
    if path.exists():
        yield f"{path} was not there when the run was sealed"


def _table(path: Path, sealed: TableSeal) -> Iterator[str]:
    # The guardian of each run reads manifests only, and would load all of Arrow for nothing.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        same = sha256_of(path) == sealed.sha256
        rows = int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException) as failure:
        yield _unread(path, failure)
        return
    if rows != sealed.rows:
        yield f"{path} has {rows:,} rows; {sealed.rows:,} were sealed"
    elif not same:
        yield f"{path} is not what was sealed: its checksum is another"


def _unread(path: Path, failure: Exception) -> str:
    if isinstance(failure, FileNotFoundError):
        return f"{path} is gone"
    said = failure.strerror if isinstance(failure, OSError) else None
    return f"{path} cannot be read: {said or str(failure).rstrip('.')}"
