"""PURE: what servers report of themselves, as roles of a stream and as reasons against a run.

1. A server is a stream's leader if it says so of itself. What another one believes may be old.
2. Only the leader knows which replicas are current.
3. A report is an answer of the monitoring port: /jsz, /routez or /connz. None: no answer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.cluster.port import Roles

Report = Mapping[str, Any]
Reports = Mapping[str, Report | None]  # by host


def leaders(reports: Reports, stream: str) -> dict[str, bool | None]:
    """Return host -> whether it says that it leads the stream; None: no answer."""
    return {
        host: None if report is None else _leader(report, stream) == host
        for host, report in reports.items()
    }


def roles(reports: Reports, stream: str) -> Roles:
    """Return who leads a stream and who follows, as its leader reports.

    Without a leader the followers are those that report the stream.
    """
    claims = leaders(reports, stream)
    leader = next((host for host, leads in claims.items() if leads), None)
    if leader is None:
        holders = [host for host, report in reports.items() if report and _detail(report, stream)]
        return Roles(master=None, mirrors=tuple(holders), synchronised=None)
    replicas = _replicas(_detail(reports[leader] or {}, stream).get("cluster", {}))
    return Roles(
        master=leader,
        mirrors=tuple(replicas),
        synchronised=tuple(name for name, current in replicas.items() if current),
    )


def stored(report: Report | None, stream: str) -> int | None:
    """Return how many messages of a stream a server stores; None: it does not say."""
    detail = _detail(report or {}, stream)
    count = detail.get("state", {}).get("messages") if detail else None
    return count if isinstance(count, int) else None


def running(routes: Report | None, host: str) -> frozenset[str] | None:
    """Return the servers that a server has routes to, and itself; None: no answer."""
    if routes is None:
        return None
    return frozenset({host, *(str(one.get("remote_name")) for one in routes.get("routes") or ())})


def doubts(jetstream: Reports, routes: Reports) -> tuple[str, ...]:
    """Return why the cluster may not serve a run: a server, a route or a replica is missing."""
    return (*_of_routes(routes), *_of_meta(jetstream), *_of_streams(jetstream))


def _of_routes(routes: Reports) -> Iterator[str]:
    for host, report in routes.items():
        seen = running(report, host)
        if seen is None:
            yield f"{host} does not answer"
        else:
            yield from (f"{host} has no route to {peer}" for peer in routes if peer not in seen)


def _of_meta(jetstream: Reports) -> Iterator[str]:
    metas = {host: (report or {}).get("meta_cluster", {}) for host, report in jetstream.items()}
    named = {str(meta.get("leader", "")) for meta in metas.values()}
    if len(named) != 1 or not named <= set(jetstream):
        yield f"the servers name these leaders of the meta group: {sorted(named)}"
        return
    (leader,) = named
    current = {leader} | {name for name, there in _replicas(metas[leader]).items() if there}
    yield from (f"{host} is behind in the meta group" for host in jetstream if host not in current)


def _of_streams(jetstream: Reports) -> Iterator[str]:
    names = {name for report in jetstream.values() for name in _details(report or {})}
    for name in sorted(names):
        found = roles(jetstream, name)
        if found.master is None:
            yield f"{name} has no leader"
        behind = set(found.mirrors) - set(found.synchronised or ())
        yield from (f"{host} is behind in {name}" for host in sorted(behind))


def _leader(report: Report, stream: str) -> str:
    return str(_detail(report, stream).get("cluster", {}).get("leader", ""))


def _replicas(cluster: Report) -> dict[str, bool]:
    """Return the other members of a group, and whether each is current and there."""
    return {
        str(one.get("name")): one.get("current") is True and one.get("offline") is not True
        for one in cluster.get("replicas") or ()
    }


def _detail(report: Report, stream: str) -> Report:
    return _details(report).get(stream, {})


def _details(report: Report) -> dict[str, Report]:
    return {
        str(one.get("name")): one
        for account in report.get("account_details") or ()
        for one in account.get("stream_detail") or ()
    }
