"""Leaders by their hosts: voters report each other by ids such as `n2`, and readers know hosts.

1. Ids and hosts are those of the layout, if it comes with mqproof, and its voters are those that
   the run queried; else an id stays as it was reported.
2. Only what a person reads changes: marts and verdicts keep the words of the voters.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from faults.core.places import place
from harness.plan.layouts.servers import Voter
from harness.plan.model import split_label
from harness.run_folder.manifest import Manifest
from harness.run_folder.rows import ClientEvent
from harness.systems.catalogue import as_shipped, load_system
from spark_analysis.schema.views import LEADER, Views

_LEADS = re.compile(r"(?P<group>[^ ]+): (?P<id>[^ ]+) leads\b")
HostsOfIds = Mapping[tuple[str, str], str]  # by group and id


def leader_hosts(manifest: Manifest, views: Views) -> HostsOfIds:
    """Return the hosts of the voters of a run; none if they are unknown."""
    queried = {one.name_server for one in views.queries if one.kind == LEADER}
    voters = _voters(manifest.system, split_label(manifest.layout)[0]) if queried else ()
    if {place(one.host, one.word) for one in voters} != queried:
        return {}
    return {(group, one.id): one.host for one in voters for group in (one.query, *one.groups)}


@cache
def _voters(system: str, layout: str) -> tuple[Voter, ...]:
    found = as_shipped(system, layout)
    return () if found is None else load_system(system).servers(found).voters


def with_hosts(text: str, hosts: HostsOfIds) -> str:
    """Return `broker-a: rkd3 (n2) leads, term 3`."""

    def named(found: re.Match[str]) -> str:
        host = hosts.get((found["group"], found["id"]))
        return found[0] if host is None else f"{found['group']}: {host} ({found['id']}) leads"

    return _LEADS.sub(named, text)


def views_with_hosts(views: Views, hosts: HostsOfIds) -> Views:
    changes = (
        replace(one, what=with_hosts(one.what, hosts)) if one.kind == LEADER else one
        for one in views.changes
    )
    return replace(views, changes=tuple(changes)) if hosts else views


def events_with_hosts(events: Iterable[ClientEvent], hosts: HostsOfIds) -> tuple[ClientEvent, ...]:
    return tuple(replace(one, detail=with_hosts(one.detail, hosts)) for one in events)
