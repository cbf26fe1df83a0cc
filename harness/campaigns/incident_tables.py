"""Tables of runs in which clients ask name servers: whose sends failed, and who dropped whom."""

from collections.abc import Iterable, Iterator, Sequence

from harness.campaigns.packed import Packed
from harness.campaigns.page_tables import cells_of, middle_of, never_or
from harness.report.markdown import head, row
from harness.report.page import formats
from harness.view.grouping import by_key
from harness.view.routes import DROPPED, NS, SHOWN, SILENT, Stretch

_MASTER = " master"


def sends(packs: Sequence[Packed]) -> Iterator[str]:
    """Yield whose sends failed under a fault, and until when, by cell and name server."""
    yield from head(
        *("scenario", "layout", "client", "publishers that asked", "runs", "share that failed"),
        *("last failed after", "turned to another after", "left the master out after"),
    )
    for cell, runs in cells_of(packs):
        every = (one for run in runs if run.detail is not None for one in run.detail.failing)
        asking = (one for one in every if one.name_server and one.window == 1)
        for name_server, found in by_key(asking, lambda one: one.name_server).items():
            place = f"`{cell[0]}`", f"`{cell[2]}`", cell[3], name_server, str(len(found))
            share = middle_of([one.share for one in found], formats.share)
            last = never_or([one.last_failed_s for one in found], "none failed")
            turned = never_or([one.turned_s for one in found], "never")
            left_out = never_or([one.left_out_s for one in found], "never")
            yield row((*place, share, last, turned, left_out))


def dropped(packs: Sequence[Packed]) -> Iterator[str]:
    """When each name server dropped a master after the fault, and showed it again."""
    yield from head(
        *("scenario", "layout", "name server", "master", "runs"),
        *("fell silent after", "dropped it after", "showed it again after"),
    )
    for (scenario, layout, name), found in _views(packs).items():
        silent, gone, again = zip(*found, strict=True)
        if any(one is not None for one in (*silent, *gone)):
            server, _, master = name.partition(": ")
            place = f"`{scenario}`", f"`{layout}`", server, master.removesuffix(_MASTER)
            times = (never_or(each, "never") for each in (silent, gone, again))
            yield row((*place, str(len(found)), *times))


# What one run saw of a name server and a master, in seconds from the fault on: when the server
# fell silent, when it dropped the master, and when it showed it again after that.
_View = tuple[float | None, float | None, float | None]


def _views(packs: Sequence[Packed]) -> dict[tuple[str, str, str], list[_View]]:
    """By scenario, layout, and the row that it is drawn as. Clients do not matter to it."""
    found: dict[tuple[str, str, str], list[_View]] = {}
    for cell, runs in cells_of(packs):
        for timeline in (run.detail.timeline for run in runs if run.detail is not None):
            for one in timeline.routes.servers if timeline.faults else ():
                if one.name.endswith(_MASTER):
                    seen = _view(one.stretches, timeline.faults[0].issued_ns)
                    found.setdefault((cell[0], cell[2], one.name), []).append(seen)
    return found


def _view(stretches: Iterable[Stretch], origin_ns: int) -> _View:
    later = [one for one in stretches if one.until_ns > origin_ns]
    gone_ns = _first(later, DROPPED, origin_ns)
    again_ns = None if gone_ns is None else _first(later, SHOWN, gone_ns)
    times_ns = _first(later, SILENT, origin_ns), gone_ns, again_ns
    silent_s, gone_s, again_s = (None if at is None else (at - origin_ns) / NS for at in times_ns)
    return silent_s, gone_s, again_s


def _first(stretches: Iterable[Stretch], state: str, after_ns: int) -> int | None:
    """When the first of them began, or the one that was under way."""
    begun = [one.from_ns for one in stretches if one.state == state and one.until_ns > after_ns]
    return max(after_ns, min(begun)) if begun else None
