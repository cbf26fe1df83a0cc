"""The marts of a packed experiment as a file: enough to judge its runs without the pack.

1. Of each run it holds the manifest, every mart that a verdict or a table reads, and the few raw
   rows that a page shows. It holds no row a message: mart `affected` and stories stay out.
2. Verdicts are not in it. They are computed from it by the claims of today.
3. Marts of a table are stored column by column, without the column `run`.
4. A column that came later has a default, which says that it is unknown: older marts lack it.
5. A body of before format 3 names the measures whose opportunities it does not count: `uncounted`.
"""

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import restored
from harness.judging.assemble import RawReading, failing_of, read_raw
from harness.outside.files import JSON_BYTES_MAX, Unreadable, text_of
from harness.plan.model import Cell
from harness.plan.problems import PlanError, Problem
from harness.run_folder.manifest import BYTES_MAX, NAME, Manifest
from harness.run_folder.rows import ClientEvent, FaultEvent, Operation, Probe
from harness.view.message_traces import Records
from harness.view.observations import Observation
from harness.view.routes import ATTACHED
from spark_analysis.files.regular import json_of
from spark_analysis.files.writing import write_whole
from spark_analysis.schema import old_names
from spark_analysis.schema.costs import COSTS
from spark_analysis.schema.declared import parsed
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.sends import SENDS
from spark_analysis.schema.views import ROUTE, VIEWS

SUFFIX = ".marts.json.xz"
FORMAT, VERSION = "mqproof marts", 3
_UNUSED = "affected"  # one row a message; no verdict and no table reads it
STORED: dict[str, type] = {
    name: row for name, row in {**MARTS, **COSTS, **SENDS, **VIEWS}.items() if name != _UNUSED
}
_SHOWN_EVENTS = (ATTACHED, ROUTE, "closed")  # clients' events that a table or a picture reads
_EVENTS: dict[str, type] = {
    "faults": FaultEvent,
    "probes": Probe,
    "operations": Operation,
    "clients": ClientEvent,
}


@dataclass(frozen=True, slots=True)
class RunMarts:
    """One run of a pack. `body` None: it was not judged, and `failure` says why."""

    name: str
    cell: Cell
    repeat: int
    seed: int
    failure: str
    body: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class PackMarts:
    """The marts of one packed experiment. `file`: the name of its pack."""

    file: str
    seed: int
    replay: str
    runs: tuple[RunMarts, ...]


def body_of(run: JudgedRun) -> dict[str, Any]:
    """Return the JSON document of a run that was judged in its folder."""
    raw = read_raw(run)
    events = {name: getattr(raw.records, name) for name in _EVENTS}
    events["clients"] = [each for each in events["clients"] if each.kind in _SHOWN_EVENTS]
    holders = (COSTS, run.costs), (SENDS, run.sends), (VIEWS, run.views), (MARTS, run.findings)
    held = {name: holder for names, holder in holders for name in names}
    found = {name: list(getattr(held[name], name)) for name in STORED}
    body = {
        "manifest": json_of(run.folder / NAME, BYTES_MAX),
        "marts": {name: _columns(STORED[name], rows) for name, rows in found.items() if rows},
        "words": dict(raw.words),
        "audited": [asdict(one) for one in raw.audited],
        "events": {name: _columns(_EVENTS[name], rows) for name, rows in events.items() if rows},
        "unreadable": raw.records.unreadable,
    }
    # Comparisons are between what was read from files, so tuples become lists here.
    document: dict[str, Any] = json.loads(json.dumps(body))
    return document


def judged_from(body: Mapping[str, Any], place: Path) -> tuple[JudgedRun, RawReading]:
    """Return a run and what was read of its raw rows. Raises ValueError, KeyError, TypeError."""
    manifest = Manifest.of_document(body["manifest"], place)
    found = {
        name: [STORED[name](run=manifest.run, **row) for row in _records(columns)]
        for name, columns in body["marts"].items()
    }
    events: dict[str, Any] = {
        name: tuple(row(**one) for one in _records(body["events"].get(name, {})))
        for name, row in _EVENTS.items()
    }
    audited = tuple(Observation(**one) for one in body["audited"])
    records = Records(**events, unreadable=body["unreadable"])
    uncounted = frozenset(body.get("uncounted", ()))
    run = restored(manifest, found)
    failed = failing_of(run, records)
    return run, RawReading(body["words"], audited, records, failed, uncounted)


def write(marts: PackMarts, path: Path) -> None:
    """Write the marts; the file appears whole or not at all."""
    document = {"format": FORMAT, "version": VERSION, **asdict(marts)}
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    write_whole(path, lzma.compress(text.encode(), preset=9))


def read(path: Path) -> PackMarts:
    """Return the marts of a file that `write` made. Raises PlanError."""
    try:
        document = old_names.marts(parsed(text_of(path, JSON_BYTES_MAX)))
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ValueError(f"it is not of the format {FORMAT!r}, version {VERSION}")
        runs = tuple(_run(one) for one in document["runs"])
        return PackMarts(document["file"], document["seed"], document["replay"], runs)
    except (Unreadable, ValueError, KeyError, TypeError) as failure:
        raise unusable(path, failure) from failure


def same(one: PackMarts, other: PackMarts) -> bool:
    """Compare marts; the rows of a mart have no order (spark_analysis/schema/findings.py). A later
    column, which older marts lack, is no difference."""
    lacking = _lacking(one) | _lacking(other)
    return _in_order(one, lacking) == _in_order(other, lacking)


def _lacking(marts: PackMarts) -> set[tuple[str, str]]:
    """Return (mart, column) of the later columns that some run does not hold: they have a
    default."""
    return {
        (name, item.name)
        for run in marts.runs
        for name, columns in (run.body or {"marts": {}})["marts"].items()
        for item in fields(STORED[name])
        if item.default is not MISSING and item.name not in columns
    }


def _in_order(marts: PackMarts, lacking: set[tuple[str, str]]) -> list[object]:
    runs = [
        replace(run, body=run.body and _body_in_order(run.body, lacking)) for run in marts.runs
    ]
    return [marts.file, marts.seed, marts.replay, runs]


def _body_in_order(body: Mapping[str, Any], lacking: set[tuple[str, str]]) -> dict[str, Any]:
    rows = {
        name: sorted(
            json.dumps({key: row[key] for key in sorted(row) if (name, key) not in lacking})
            for row in _records(columns)
        )
        for name, columns in body["marts"].items()
    }
    return {**body, "marts": rows}


def unusable(path: Path, failure: Exception) -> PlanError:
    """Return the error of marts that today's rules cannot read."""
    said = str(failure) if isinstance(failure, Unreadable | ValueError) else repr(failure)
    text = (
        f"holds no marts that this version reads: {said}. "
        "Make them again from the raw packs: mqproof campaign page PAGE --evidence SOURCE"
    )
    return PlanError([Problem(str(path), text)])


def _run(document: Mapping[str, Any]) -> RunMarts:
    names = "name", "repeat", "seed", "failure", "body"
    scenario, system, layout, client = document["cell"]
    found = {name: document[name] for name in names}
    return RunMarts(cell=(scenario, system, layout, client), **found)


def _columns(row: type, rows: Iterable[Any]) -> dict[str, list[Any]]:
    names = [item.name for item in fields(row) if item.name != "run"]
    found = list(rows)
    return {name: [getattr(one, name) for one in found] for name in names}


def _records(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))
