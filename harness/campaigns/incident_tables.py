"""Tables of runs in which clients ask name servers: whose sends failed, and who dropped whom."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.campaigns.packed import Packed
from harness.campaigns.table_parts import cells_of, head, middle_of, never_or, row
from harness.report.page import formats
from harness.view.failing import Failing
from harness.view.routes import DROPPED, NS, SHOWN, SILENT, Stretch

_MASTER = " master"


def sends(packs: Sequence[Packed]) -> Iterator[str]:
    """Yield whose sends failed under a fault, and until when, by cell and name server."""
    yield from head(
        *("scenario", "layout", "client", "publishers that asked", "runs", "share that failed"),
        *("last failed after", "turned to another after", "left the master out after"),
    )
    for cell, runs in cells_of(packs):
        by_server: dict[str, list[Failing]] = {}
        for run in runs:
            for one in run.detail.failing if run.detail is not None else ():
                if one.name_server and one.window == 1:
                    by_server.setdefault(one.name_server, []).append(one)
        for name_server, found in by_server.items():
            first = f"`{cell[0]}`", f"`{cell[2]}`", cell[3], name_server, str(len(found))
            shares = [one.share for one in found]
            yield row(
                [
                    *first,
                    middle_of(shares, formats.share),
                    never_or([one.last_failed_s for one in found], "none failed"),
                    never_or([one.turned_s for one in found], "never"),
                    never_or([one.left_out_s for one in found], "never"),
                ]
            )


def dropped(packs: Sequence[Packed]) -> Iterator[str]:
    """When each name server dropped a master after the fault, and showed it again."""
    yield from head(
        *("scenario", "layout", "name server", "master", "runs"),
        *("fell silent after", "dropped it after", "showed it again after"),
    )
    for (scenario, layout, name), found in _views(packs).items():
        if any(one.happened for one in found):
            server, _, master = name.partition(": ")
            first = f"`{scenario}`", f"`{layout}`", server, master.removesuffix(_MASTER)
            yield row(
                [
                    *first,
                    str(len(found)),
                    never_or([one.silent_s for one in found], "never"),
                    never_or([one.dropped_s for one in found], "never"),
                    never_or([one.again_s for one in found], "never"),
                ]
            )


@dataclass(frozen=True, slots=True)
class _View:
    """What one run saw of a name server and a master, in seconds from the fault on."""

    silent_s: float | None
    dropped_s: float | None
    again_s: float | None  # after it was dropped

    @property
    def happened(self) -> bool:
        return self.silent_s is not None or self.dropped_s is not None


def _views(packs: Sequence[Packed]) -> dict[tuple[str, str, str], list[_View]]:
    """By scenario, layout, and the row that it is drawn as. Clients do not matter to it."""
    found: dict[tuple[str, str, str], list[_View]] = {}
    for cell, runs in cells_of(packs):
        for timeline in (run.detail.timeline for run in runs if run.detail is not None):
            if not timeline.faults:
                continue
            for one in timeline.routes.servers:
                if one.name.endswith(_MASTER):
                    seen = _view(one.stretches, timeline.faults[0].issued_ns)
                    found.setdefault((cell[0], cell[2], one.name), []).append(seen)
    return found


def _view(stretches: Iterable[Stretch], origin_ns: int) -> _View:
    later = [one for one in stretches if one.until_ns > origin_ns]
    gone_ns = _first(later, DROPPED, origin_ns)
    times_ns = (
        _first(later, SILENT, origin_ns),
        gone_ns,
        None if gone_ns is None else _first(later, SHOWN, gone_ns),
    )
    return _View(*(None if at is None else (at - origin_ns) / NS for at in times_ns))


def _first(stretches: Iterable[Stretch], state: str, after_ns: int) -> int | None:
    """When the first of them began, or the one that was under way."""
    begun = [one.from_ns for one in stretches if one.state == state and one.until_ns > after_ns]
    return max(after_ns, min(begun)) if begun else None
