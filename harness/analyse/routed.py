"""Routes during faults: whether the name servers left alone answered clients, from raw rows.

1. Running clients use the routes that they know, so their progress proves nothing about name
   servers. Probers query the routes twice a second, and show whether name servers answer.
2. One answer is enough. No route was served if for WITHOUT_NS none answered with it, though a
   queried one did not answer, or knew of nothing. Without queries the answer is unknown. While a
   prober itself stood still, name servers may have answered.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from harness.plan.declared import NAME_SERVERS_HIT
from harness.run_folder import rows
from harness.run_folder.manifest import Manifest
from harness.run_folder.rows import Probe
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.views import NOTHING, ROUTE, STOOD_STILL

ROUTES = "routes_served_meanwhile"
WITHOUT_NS = 5_000_000_000
ROWS_MAX = 200_000
_NONE = {"not_applicable": "no fault affected one name server and spared another"}

RouteValue = bool | dict[str, str] | None


def route_state(folder: Path, manifest: Manifest, facts: Facts) -> dict[str, RouteValue]:
    """A word of plan/vocabulary (SEEN), of the run in `folder`; None is unknown."""
    states = {window: _state(manifest, window) for window in facts.windows}
    affected = [
        one
        for one, of in states.items()
        if of.get(NAME_SERVERS_HIT) and of.get("name_servers_left")
    ]
    if not affected:
        return {ROUTES: _NONE}
    try:
        looks = rows.read(folder, Probe, ROWS_MAX, pc.field("kind") == ROUTE)
    except rows.Unreadable:
        return {ROUTES: None}
    answers = [_in_window(looks, one, manifest, facts) for one in affected]
    if False in answers:
        return {ROUTES: False}
    return {ROUTES: None if None in answers else True}


def _in_window(
    looks: Iterable[Probe], window: Window, manifest: Manifest, facts: Facts
) -> bool | None:
    """Return the answer for all queues; each has a prober of its own."""
    hosts = _state(manifest, window)[NAME_SERVERS_HIT]
    ended_ns = facts.load_ended_ns if window.ended_ns is None else window.ended_ns
    left = [
        one
        for one in looks
        if one.target not in hosts
        and one.ended_ns >= window.returned_ns
        and one.started_ns < ended_ns
    ]
    probers = {one.prober for one in left}
    answers = [
        _of_queue([one for one in left if one.prober == prober], window.returned_ns, ended_ns)
        for prober in probers
    ]
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _of_queue(looks: Sequence[Probe], from_ns: int, until_ns: int) -> bool | None:
    answered_ns = [one.ended_ns for one in looks if one.ok and one.detail != NOTHING]
    stalled = [one for one in looks if not one.ok and one.detail.endswith(STOOD_STILL)]
    perhaps_ns = [at_ns for one in stalled for at_ns in (one.started_ns, one.ended_ns)]
    query_ns = [
        one.started_ns
        for one in looks
        if one.detail == NOTHING or not (one.ok or one.detail.endswith(STOOD_STILL))
    ]
    without = _gaps((*answered_ns, *perhaps_ns), from_ns, until_ns)
    if any(a <= at_ns < b for a, b in without for at_ns in query_ns):
        return False
    return None if _gaps(answered_ns, from_ns, until_ns) else True


def _gaps(answered_ns: Iterable[int], from_ns: int, until_ns: int) -> list[tuple[int, int]]:
    """Return the times without an answer that are long enough."""
    ends_ns = [from_ns, *sorted(answered_ns), until_ns]
    return [(a, b) for a, b in pairwise(ends_ns) if b - a >= WITHOUT_NS]


def _state(manifest: Manifest, window: Window) -> dict[str, Any]:
    found: dict[str, Any] = manifest.state.get("windows", {}).get(str(window.number), {})
    return found
