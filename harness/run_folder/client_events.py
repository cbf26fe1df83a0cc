"""Facts of each fault window for claims, from clients' events after the run."""

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from faults.core.places import host_of, split
from harness.plan.declared import NAME_SERVERS_HIT
from harness.plan.fault_properties import with_properties
from harness.plan.vocabulary import MOVED
from harness.run_folder.manifest import Manifest
from spark_analysis.schema.facts import Window

AT_HOSTS = ("hosts", "one")  # entrances by which a client's connection leads to a host it knows
NO_CLIENTS = {"not_applicable": "no client was connected to the target when the fault began"}
NO_PUBLISHERS = {"not_applicable": "no publisher was connected to the target when the fault began"}
NOT_REPORTED = {"not_applicable": "the client does not report when a connection ends"}
NO_LINKS = {"not_applicable": "no fault affected clients' links"}
CUT_OFF = "clients_of_target_cut_off"
# In the state of a window: whether clients report that a connection ended. If they do not, claims
# about it do not apply: no run with this client can judge them.
REPORT_LOST = "clients_report_lost"
# In the state of a window: the numbers of the consumers whose queue its target is master of.
CONSUMING = "consumers_of_target"


class _Event(NamedTuple):
    at_ns: int
    worker: int
    detail: str
    connection: int


class _ClientLink(NamedTuple):
    """A client's connection to a host, from its beginning until it was lost or closed."""

    worker: int
    host: str
    from_ns: int
    until_ns: float


def record_claim_facts(manifest: Manifest, events: Path) -> None:
    """Completes the state of each window. `events`: the sealed table, if there is one."""
    ends = [window.origin_ns for window in manifest.windows[1:]] + [None]
    cancelled, attached = _of_kind(events, "cancelled"), _of_kind(events, "attached")
    blocked = _of_kind(events, "blocked")
    links = tuple(_links(manifest, events))
    for window, end in zip(manifest.windows, ends, strict=False):
        state = manifest.state.setdefault("windows", {}).setdefault(str(window.number), {})
        cancelled_workers = {
            one.worker
            for one in cancelled
            if window.origin_ns <= one.at_ns and (end is None or one.at_ns < end)
        }
        consuming = _attached(manifest, links, window, state.get(CONSUMING))
        state["consumers_attached"] = None if consuming is None else len(consuming)
        state["consumers_cancelled"] = len(
            cancelled_workers if consuming is None else cancelled_workers & consuming
        )
        before = {one.worker: one.detail for one in attached if one.at_ns < window.origin_ns}
        hit = state.get(NAME_SERVERS_HIT)
        state["publishers_attached_to_target"] = (
            _publishers_at(manifest, before, hit) if isinstance(hit, list) else hit
        )
        state["publishers_not_blocked"] = _not_blocked(manifest, links, blocked, window)
        until_ns = end if end is not None else manifest.load_ended_ns
        state[CUT_OFF] = None  # unknown, too, if it is not recorded whether clients report that
        if state.get(REPORT_LOST) is True:
            state[CUT_OFF] = _cut_off(manifest, links, window.number, window.origin_ns, until_ns)
        elif state.get(REPORT_LOST) is False:
            state[CUT_OFF] = NOT_REPORTED


def reached_another(manifest: Manifest, events: Path) -> bool | dict[str, str] | None:
    """Return whether every publisher that was connected to a host when faults hit clients' links
    to it was connected to another host before these were undone; None if the hosts of clients are
    unknown. A fault that hit no publisher's link counts for nothing."""
    of_links = [one for one in manifest.windows if _of_links(one)]
    if not of_links:
        return NO_LINKS
    links = tuple(_links(manifest, events))
    answers = [_all_moved(manifest, links, one) for one in of_links]
    if False in answers:
        return False
    if None in answers:
        return None
    return True if True in answers else NO_PUBLISHERS


def moved_in_windows(
    manifest: Manifest, events: Path
) -> dict[str, dict[str, bool | dict[str, str] | None]]:
    """Return, for each window, whether every publisher that was connected to its target connected
    to another host before the undo. It is unknown (None) if one did not, and a log does not
    reach the run's end, or it had less time than clients may need."""
    links = tuple(_links(manifest, events))
    found = {}
    for window in manifest.windows:
        moved = _all_moved(manifest, links, window)
        if moved is False and not _had_to_move(manifest, window):
            moved = None
        found[str(window.number)] = {MOVED: moved}
    return found


def _had_to_move(manifest: Manifest, window: Window) -> bool:
    """Return whether publishers' records show that one kept away from all other hosts. They do
    not if a fault kept a publisher from acting meanwhile."""
    publishers = [one for one in manifest.workers if one.role == "publisher"]
    whole = all(one.reaches_the_end for one in publishers)
    reconnect_s = manifest.state.get("reconnect_s")
    until_ns = manifest.load_ended_ns if window.ended_ns is None else window.ended_ns
    if not whole or not isinstance(reconnect_s, int | float) or until_ns is None:
        return False
    acting = {one.number for one in publishers} - _killed_before(manifest, window.origin_ns)
    away = any(
        one.worker in acting
        and one.from_ns < until_ns
        and (one.until_ns is None or one.until_ns > window.origin_ns)
        for one in manifest.absences
    )
    return not away and until_ns - window.returned_ns > reconnect_s * 1e9


def _killed_before(manifest: Manifest, at_ns: int) -> set[int]:
    """Return the workers that a fault had killed by then; no event ends their connections."""
    gone = [one for one in manifest.absences if one.until_ns is None and one.from_ns < at_ns]
    killed = {one.number for one in manifest.workers if one.log_whole}
    return {one.worker for one in gone} & killed


def _of_links(window: Window) -> bool:
    properties = with_properties(window).properties
    return properties is not None and properties.of_client_links


def _all_moved(
    manifest: Manifest, links: Sequence[_ClientLink], window: Window
) -> bool | dict[str, str] | None:
    hosts = _target_hosts(manifest, window.number)
    if not (hosts and links):
        return None
    origin_ns = window.origin_ns
    publishers = {one.number for one in manifest.workers if one.role == "publisher"}
    publishers -= _killed_before(manifest, origin_ns)
    until_ns = inf if window.ended_ns is None else window.ended_ns
    there = {
        one.worker
        for one in links
        if one.host in hosts and one.from_ns < origin_ns <= one.until_ns
    } & publishers
    if not there:
        return NO_PUBLISHERS
    elsewhere = [
        one
        for one in links
        if one.host not in hosts and one.from_ns < until_ns and one.until_ns > origin_ns
    ]
    if there <= {
        one.worker for one in elsewhere if one.from_ns >= origin_ns or one.until_ns < inf
    }:
        return True
    # Only a client that reports ends still has an older connection whose end is not on record.
    state = manifest.state.get("windows", {}).get(str(window.number), {})
    still_there = there <= {one.worker for one in elsewhere}
    return None if still_there and state.get(REPORT_LOST) is not True else still_there


def _attached(
    manifest: Manifest, links: Sequence[_ClientLink], window: Window, consuming: object
) -> set[int] | None:
    """Return which of these consumers were connected, when the window opened, to a host that it
    did not affect; None if unknown."""
    hosts = _target_hosts(manifest, window.number)
    if not (hosts and links and isinstance(consuming, list)):
        return None
    return {
        one.worker
        for one in links
        if one.from_ns < window.origin_ns <= one.until_ns and one.host not in hosts
    } & set(consuming)


def _not_blocked(
    manifest: Manifest, links: Sequence[_ClientLink], blocked: Sequence[_Event], window: Window
) -> int | None:
    """Return how many of the publishers connected when the window opened got no blocked
    notification before its fault was undone; None if no connection is on record."""
    publishers = {one.number for one in manifest.workers if one.role == "publisher"}
    stood = {
        one.worker for one in links if one.from_ns < window.origin_ns <= one.until_ns
    } & publishers
    until_ns = inf if window.ended_ns is None else window.ended_ns
    blocked_workers = {one.worker for one in blocked if window.origin_ns <= one.at_ns <= until_ns}
    return len(stood - blocked_workers) if stood else None


def _cut_off(
    manifest: Manifest,
    links: Sequence[_ClientLink],
    window: int,
    origin_ns: int,
    until_ns: int | None,
) -> bool | dict[str, str] | None:
    """Return whether every connection to the target's hosts that stood when the window opened
    ended in it; None if the hosts of clients, or the window's end, are unknown."""
    hosts = _target_hosts(manifest, window)
    if not (hosts and links) or until_ns is None:
        return None
    stood = [one for one in links if one.host in hosts and one.from_ns < origin_ns <= one.until_ns]
    return all(one.until_ns < until_ns for one in stood) if stood else NO_CLIENTS


def _target_hosts(manifest: Manifest, window: int) -> set[str]:
    """Return the hosts of the window's target; none if the hosts of clients are unknown."""
    places = next((one.places for one in manifest.targets if one.window == window), "")
    known = places and manifest.state.get("client_endpoint") in AT_HOSTS
    return {host_of(one) for one in split(places)} if known else set()


def _links(manifest: Manifest, events: Path) -> Iterator[_ClientLink]:
    """Every connection of publishers and consumers, whose events say `HOST LIBRARY`."""
    load = {one.number for one in manifest.workers if one.role in ("publisher", "consumer")}
    ended = [*_of_kind(events, "lost"), *_of_kind(events, "closed")]
    ends: dict[tuple[int, int], int] = {}
    for one in ended:
        link = one.worker, one.connection
        ends[link] = min(one.at_ns, ends.get(link, one.at_ns))
    for one in _of_kind(events, "connected"):
        if one.worker in load:
            host = one.detail.partition(" ")[0]
            yield _ClientLink(
                one.worker, host, one.at_ns, ends.get((one.worker, one.connection), inf)
            )


def _publishers_at(
    manifest: Manifest, attached: dict[int, str], hosts: Sequence[str]
) -> int | None:
    """Return how many publishers used a name server of these hosts; None if some never named
    theirs."""
    publishers = {one.number for one in manifest.workers if one.role == "publisher"}
    known = [attached[number] for number in publishers if number in attached]
    if not known or len(known) < len(publishers):
        return None
    return sum(host in hosts for host in known)


def _of_kind(events: Path, kind: str) -> list[_Event]:
    """Return the events of that kind by the time at which they came."""
    if not events.exists():
        return []
    columns = ["at_ns", "worker", "detail", "kind", "connection"]
    rows = pq.read_table(events, columns=columns).to_pydict()
    return sorted(_rows(rows, kind))


def _rows(rows: dict[str, list[object]], kind: str) -> Iterator[_Event]:
    names = ("at_ns", "worker", "detail", "connection", "kind")
    for at_ns, worker, detail, connection, found in zip(
        *(rows[name] for name in names), strict=True
    ):
        if found == kind:
            assert isinstance(at_ns, int)
            assert isinstance(worker, int)
            assert isinstance(connection, int)
            yield _Event(at_ns, worker, str(detail or ""), connection)
