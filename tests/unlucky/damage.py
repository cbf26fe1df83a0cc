"""Damaged run folders, drawn from a seed: every table, every key of a manifest, every log.

1. A damage is one change that a disk, a copy or a hand may make; it says what it did.
2. `spoiled` damages leave the manifest's digest as it was. `forged` ones put a new one under what
   they changed: the original state is unknown then, but a traceback is not allowed.
3. The run that is damaged has an own loss, so that there are both PASS and FAIL to be changed.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.run_folder.manifest import NAME
from harness.run_folder.seal import LOGS, seal
from spark_analysis.files.sealed import DIGEST, RAW, digest_of
from tests.rigs.runs.judged_runs import crash, manifest_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.sealed_runs import write_logs

Key = tuple[str | int, ...]
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63), 10**18, 10**40, 0.5, 1e308),
    *("", "word", "\u202e\x1b[31m", "x" * 10_000, "1", "../..", "publisher", "kill"),
    *([], [[]], ["word"], [None], {}, {"word": 1}, {"number": 1}, [{}] * 3),
)


def recorded(folder: Path, *, sealed: bool = True, lost: int = 40) -> Path:
    """A run around a crash of the master in which one confirmed message was lost."""
    history = crash(lost=(lost,), every_ms=100)
    names = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    facts, rows = history.build()
    facts = replace(facts, run=folder.name, **names)
    manifest = manifest_of(
        facts,
        load_started_ns=facts.load_started_ns,
        load_ended_ns=facts.load_ended_ns,
        windows=list(facts.windows),
        queues=list(facts.queues),
    )
    folder.mkdir(parents=True)
    manifest.save(folder)
    write_logs(folder, rows)
    return folder if not sealed else _sealed(folder)


def _sealed(folder: Path) -> Path:
    seal(folder)
    return folder


@dataclass(frozen=True)
class Damage:
    """One change, and how it is called in a count."""

    kind: str
    what: str
    change: Callable[[Path], object]


def spoiled(rng: Random, run: Path, other: Path) -> Damage:
    """Of a sealed run. `other`: another one, from which things may come."""
    make = rng.choice((_of_table, _of_table, _of_folder, _of_manifest, _of_manifest, _of_bytes))
    return make(rng, run, other)


def forged(rng: Random, run: Path, other: Path) -> Damage:
    """Of a manifest, under a digest that fits."""
    damage = _of_manifest(rng, run, other)

    def change(folder: Path) -> None:
        damage.change(folder)
        path = folder / NAME
        document = json.loads(path.read_text())
        path.write_text(json.dumps({**document, DIGEST: digest_of(document)}))

    return Damage(f"{damage.kind}, forged", damage.what, change)


def of_logs(rng: Random, run: Path, other: Path) -> Damage:
    """Of a run's logs: sealed before, or not yet."""
    path = rng.choice(sorted(path for path in (run / LOGS).rglob("*") if path.is_file()))
    kinds = {**_files(path, run, other), "log of a worker gone": _gone_folder(path.parent, run)}
    kind = rng.choice(sorted(kinds))
    return Damage(f"log: {kind}", str(path.relative_to(run)), kinds[kind])


def _of_table(rng: Random, run: Path, other: Path) -> Damage:
    path = rng.choice(sorted((run / RAW).glob("*.parquet")))
    table = pq.read_table(path)
    column = rng.choice(table.column_names)
    first, many = rng.randrange(table.num_rows), rng.randint(1, 57)
    value = rng.choice((0, -1, 1, 2**31 - 1, 255))
    kinds: dict[str, Callable[[pa.Table], pa.Table]] = {
        "rows deleted": lambda t: pa.concat_tables([t.slice(0, first), t.slice(first + many)]),
        "rows repeated": lambda t: pa.concat_tables([t, t.slice(first, many)]),
        "rows in another order": lambda t: t.take([*reversed(range(t.num_rows))]),
        "column retyped": lambda t: _column(t, column, pa.array(["1"] * t.num_rows)),
        "column of one value": lambda t: _column(t, column, _same(t, column, value)),
        "column deleted": lambda t: t.drop_columns([column]),
        "no rows": lambda t: t.slice(0, 0),
    }
    kind, name = rng.choice(sorted(kinds)), path.name

    def change(folder: Path) -> None:
        place = folder / RAW / name
        pq.write_table(kinds[kind](pq.read_table(place)), place, compression="zstd")

    return Damage(f"table: {kind}", f"{name}, {column}", change)


def _column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def _same(table: pa.Table, name: str, value: int) -> pa.Array:
    hint = table.schema.field(name).type
    if not pa.types.is_integer(hint):
        return pa.array(["elsewhere"] * table.num_rows)
    return pa.array([value % 256 if hint == pa.uint8() else value] * table.num_rows, hint)


def _of_bytes(rng: Random, run: Path, other: Path) -> Damage:
    path = rng.choice([run / NAME, *sorted((run / RAW).glob("*.parquet"))])
    kinds = _files(path, run, other, rng.random())
    kind = rng.choice(sorted(kinds))
    return Damage(f"file: {kind}", str(path.relative_to(run)), kinds[kind])


def _of_folder(rng: Random, run: Path, other: Path) -> Damage:
    kinds: dict[str, Callable[[Path], object]] = {
        "raw/ gone": lambda folder: shutil.rmtree(folder / RAW),
        "raw/ empty": lambda folder: _emptied(folder / RAW),
        "raw/ of another run": lambda folder: _copied(other / RAW, folder / RAW),
        "all of another run": lambda folder: _copied(other, folder),
        "a table more": lambda folder: shutil.copy(
            folder / RAW / "attempts.parquet", folder / RAW / "terms.parquet"
        ),
        "a file more": lambda folder: (folder / RAW / "more").write_text("?"),
        "a file for a folder": lambda folder: _made_a_file(folder / RAW),
    }
    kind = rng.choice(sorted(kinds))
    return Damage(f"folder: {kind}", "", kinds[kind])


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _made_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


def _copied(source: Path, into: Path) -> None:
    shutil.rmtree(into)
    shutil.copytree(source, into)


def _files(
    path: Path, run: Path, other: Path, share: float = 0.5
) -> dict[str, Callable[[Path], object]]:
    """What may become of one file."""
    name = path.relative_to(run)

    def flip(folder: Path) -> None:
        raw = bytearray((folder / name).read_bytes())
        if raw:
            raw[int(share * len(raw))] ^= 0x55
        (folder / name).write_bytes(bytes(raw))

    def truncate(folder: Path) -> None:
        size = (folder / name).stat().st_size
        os.truncate(folder / name, int(share * size))

    def replaced(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    kinds: dict[str, Callable[[Path], object]] = {
        "gone": lambda folder: (folder / name).unlink(),
        "emptied": lambda folder: os.truncate(folder / name, 0),
        "truncated": truncate,
        "a byte flipped": flip,
        "a folder in its place": replaced,
    }
    if (other / name).is_file():
        kinds["another run's"] = lambda folder: shutil.copy(other / name, folder / name)
    return kinds


def _gone_folder(place: Path, run: Path) -> Callable[[Path], object]:
    name = place.relative_to(run)
    return lambda folder: shutil.rmtree(folder / name)


def _of_manifest(rng: Random, run: Path, other: Path) -> Damage:
    document = json.loads((run / NAME).read_text())
    key = rng.choice(sorted(keys(document), key=str))
    value = rng.choice(VALUES)
    if rng.random() < 0.3:
        kind, what = "key deleted", dotted(key)
    else:
        kind, what = "key of another value", f"{dotted(key)} = {str(value)[:40]!r}"

    def change(folder: Path) -> None:
        own = json.loads((folder / NAME).read_text())
        place = own
        for step in key[:-1]:
            place = place[step]
        if kind == "key deleted":
            del place[key[-1]]
        else:
            place[key[-1]] = value
        (folder / NAME).write_text(json.dumps(own))

    return Damage(f"manifest: {kind}", what, change)


def keys(value: Any, before: Key = ()) -> Iterator[Key]:
    """Every place in a document, however deep."""
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for name, item in items:
        yield (*before, name)
        yield from keys(item, (*before, name))


def dotted(key: Key) -> str:
    return ".".join(map(str, key))
