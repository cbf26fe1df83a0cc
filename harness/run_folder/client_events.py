"""What clients' events tell claims of each fault window, which nobody could ask them then."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from harness.run_folder.manifest import Manifest

# In the state of a window: the hosts whose name server its fault was aimed at.
STRUCK = "name_servers_struck"


class _Event(NamedTuple):
    at_ns: int
    worker: int
    detail: str


def tell_claims(manifest: Manifest, events: Path) -> None:
    """Completes the state of each window. `events`: the sealed table, if there is one."""
    ends = [window.origin_ns for window in manifest.windows[1:]] + [None]
    cancelled, attached = _of_kind(events, "cancelled"), _of_kind(events, "attached")
    for window, end in zip(manifest.windows, ends, strict=False):
        state = manifest.state.setdefault("windows", {}).setdefault(str(window.number), {})
        state["consumers_cancelled"] = sum(
            window.origin_ns <= one.at_ns and (end is None or one.at_ns < end) for one in cancelled
        )
        before = {one.worker: one.detail for one in attached if one.at_ns < window.origin_ns}
        struck = state.get(STRUCK)
        state["publishers_attached_to_target"] = (
            _publishers_at(manifest, before, struck) if isinstance(struck, list) else struck
        )


def _publishers_at(
    manifest: Manifest, attached: dict[int, str], hosts: Sequence[str]
) -> int | None:
    """How many publishers asked a name server of these hosts; None where some never said whom."""
    publishers = {one.number for one in manifest.workers if one.role == "publisher"}
    known = [attached[number] for number in publishers if number in attached]
    if not known or len(known) < len(publishers):
        return None
    return sum(host in hosts for host in known)


def _of_kind(events: Path, kind: str) -> list[_Event]:
    """By the time at which they came."""
    if not events.exists():
        return []
    columns = ["at_ns", "worker", "detail", "kind"]
    rows = pq.read_table(events, columns=columns).to_pydict()
    return sorted(_rows(rows, kind))


def _rows(rows: dict[str, list[object]], kind: str) -> Iterator[_Event]:
    told = zip(rows["at_ns"], rows["worker"], rows["detail"], rows["kind"], strict=True)
    for at_ns, worker, detail, found in told:
        if found == kind:
            assert isinstance(at_ns, int)
            assert isinstance(worker, int)
            yield _Event(at_ns, worker, str(detail or ""))
