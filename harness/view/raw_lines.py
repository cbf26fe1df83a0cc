"""What raw rows add to the lines of a run: who first got the messages that came out of order, and
slaves' copies of consumers' offsets that lag.

1. A message that only the drain got out of order reached no consumer of the load. The verdict is
   the same; the reader learns where to look.
2. A master has the offsets of its group of brokers. A slave copies them from time to time, and
   the copy may be of before a fault. It leaves nothing unread.
3. A host's role is what name servers showed of it. If it had two, or none, nothing is known.
4. If a row is missing, or nothing is certain, a line stays as it is.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.run_folder import rows
from harness.view.grouping import by_key
from harness.view.observations import CONSUMER_OFFSET, ROWS_MAX, Observation
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.views import ROUTE, Shown, Views, broker_in

OUT_OF_ORDER, OFFSETS = "reordered", "consumer_offsets"  # names of lines
_COLUMNS = ["producer", "sequence", "received_ns", "via"]


def amended(line: Observation, receivers: str, stale: str) -> Observation:
    """Return a line with what raw rows add. `receivers`, `stale`: the texts of the functions of
    these names."""
    if receivers and line.name == OUT_OF_ORDER:
        return replace(line, text=f"{line.text}; {receivers}")
    return replace(line, text=stale) if stale and line.name == OFFSETS else line


def receivers(folder: Path, findings: Findings, facts: Facts) -> str:
    """Return how many messages out of order consumers and the drain got first; "" if it is not
    known of each, or there is none."""
    if not any(one.measure == OUT_OF_ORDER and one.count for one in findings.counts):
        return ""
    try:
        late = [one for one in findings.affected if one.measure == OUT_OF_ORDER]
        times = rows.field("received_ns").isin(sorted({one.at_ns for one in late}))
        ways = {
            (row["producer"], row["sequence"], row["received_ns"]): row["via"]
            for batch in rows.batches(folder, "deliveries", _COLUMNS, times)
            for row in batch.to_pylist()
        }
    except (rows.Unreadable, OSError):
        return ""  # the page says which table, and why
    found = [ways.get((one.producer, one.sequence, one.at_ns)) for one in late]
    by_load = sum(way in facts.way_numbers.load for way in found)
    by_drain = sum(way in facts.way_numbers.drain for way in found)
    if not found or by_load + by_drain < len(found):
        return ""
    return f"{by_load:,} at consumers, {by_drain:,} at the drain"


def stale(folder: Path, views: Views) -> str:
    """Return that only copies of offsets lag in the run of `folder`; "" if more does, or none."""
    try:
        where = rows.field("kind") == CONSUMER_OFFSET
        return stale_text(rows.read(folder, rows.Probe, ROWS_MAX, where), views)
    except rows.Unreadable:
        return ""  # the page says which table, and why


def stale_text(probes: Iterable[rows.Probe], views: Views) -> str:
    """Return `… at the end of every queue on masters rkt1, rkt2; slave rkt3 …`; "" if that is not
    certain."""
    by_host = by_key(probes, lambda one: one.target.partition(" ")[0])
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
    shown = (broker_in(change.what) for change in views.changes if change.kind == ROUTE)
    known = dict.fromkeys(one for one in shown if one is not None)
    by_host = by_key(known, lambda one: one.address.rpartition(":")[0])
    return {host: own[0] for host, own in by_host.items() if len(own) == 1}


def _hosts(role: str, hosts: Iterable[str]) -> str:
    every = sorted(hosts)
    return f"{role}{'s' if len(every) > 1 else ''} {', '.join(every)}"
