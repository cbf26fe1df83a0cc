"""How far consumers had come after the drain, where only slaves' copies of their offsets lag.

1. A master has the offsets of its group of brokers. A slave copies them from time to time, and
   the copy may be of before a fault. It leaves nothing unread.
2. A host's role is what name servers showed of it. If it had two, or none, nothing is known, and
   the line stays as `observations.describe` says it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.run_folder import rows
from harness.view.observations import CONSUMER_OFFSET, ROWS_MAX, Observation
from spark_analysis.schema.views import ROUTE, Shown, Views, broker_in

OFFSETS = "consumer_offsets"


def stale_copies(folder: Path, views: Views) -> tuple[Observation, ...]:
    """Return the line of a run in `folder`; nothing if more than copies lag, or none does."""
    try:
        where = rows.field("kind") == CONSUMER_OFFSET
        found = rows.read(folder, rows.Probe, ROWS_MAX, where)
    except rows.Unreadable:
        return ()  # the page says which table, and why
    text = stale_text(found, views)
    return (Observation(OFFSETS, 0, True, text),) if text else ()


def stale_text(probes: Iterable[rows.Probe], views: Views) -> str:
    """Return `… at the end of every queue on masters rkt1, rkt2; slave rkt3 …`; "" if that is not
    certain."""
    by_host = defaultdict[str, list[rows.Probe]](list)
    for one in probes:
        by_host[one.target.partition(" ")[0]].append(one)
    roles = _roles(views)
    lagging = [host for host, own in sorted(by_host.items()) if not all(one.ok for one in own)]
    masters = {one.broker: host for host, one in roles.items() if one.id == 0 and host in by_host}
    for host in lagging:
        role = roles.get(host)
        if role is None or not role.id or masters.get(role.broker) in (None, *lagging):
            return ""
        if not all(one.ok or one.detail.endswith(" behind") for one in by_host[host]):
            return ""
    if not lagging:
        return ""
    return (
        "consumers' offsets after the drain: at the end of every queue on "
        f"{_hosts('master', masters.values())} (the copies on {_hosts('slave', lagging)} lag, "
        "which is harmless)"
    )


def _roles(views: Views) -> dict[str, Shown]:
    """Return what name servers showed of each host, if that was always the same."""
    found = defaultdict[str, set[Shown]](set)
    for change in views.changes:
        shown = broker_in(change.what) if change.kind == ROUTE else None
        if shown is not None:
            found[shown.address.rpartition(":")[0]].add(shown)
    return {host: next(iter(every)) for host, every in found.items() if len(every) == 1}


def _hosts(role: str, hosts: Iterable[str]) -> str:
    every = sorted(hosts)
    return f"{role}{'s' if len(every) > 1 else ''} {', '.join(every)}"


def in_their_place(
    audited: Iterable[Observation], stale: Iterable[Observation]
) -> tuple[Observation, ...]:
    """Return what an audit showed; the line of offsets is the one that knows of copies."""
    texts = {one.name: one.text for one in stale}
    return tuple(replace(one, text=texts.get(one.name, one.text)) for one in audited)
