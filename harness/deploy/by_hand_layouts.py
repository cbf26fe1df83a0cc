"""Layouts of clusters by hand, as `mqproof up` starts them and as a run finds them again.

1. Policies mean every queue: people name their queues as they like.
2. In one Compose project the hosts of all layouts have distinct names.
3. A layout of a file may have changed since: the fingerprints of both readings are compared.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from faults.core.mechanisms import COMPOSE
from harness.deploy.by_hand_files import ByHandClusters
from harness.deploy.compose.core.render import distinct
from harness.plan.layouts import variants
from harness.plan.layouts.layout_values import Host, Policy
from harness.plan.model import Layout, System
from harness.systems import catalogue

EVERY_QUEUE = ".*"


def named(system: System, word: str) -> Layout:
    """Return the layout that a word means, in the version at its end. Raise PlanError."""
    label, version = variants.split(word)
    layout = catalogue.load_layout(system.name, label)
    (found,) = variants.of(layout, system, (version,) if version else (), ())
    return found


def of_every_queue(layout: Layout) -> Layout:
    return replace(layout, policies=tuple(map(_of_every_queue, layout.policies)))


def as_started(layouts: Sequence[Layout], deployment: str) -> list[Layout]:
    """Return the layouts with the hosts' names that they have together."""
    return distinct(layouts) if deployment == COMPOSE else list(layouts)


def standing(clusters: ByHandClusters) -> list[Layout]:
    """Read the layouts of running clusters again. Raise PlanError if one is gone or damaged."""
    found = [
        named(catalogue.load_system(one.system), one.layout_word) for one in clusters.clusters
    ]
    return as_started([of_every_queue(one) for one in found], clusters.deployment)


def fingerprint(layout: Layout) -> str:
    """Return a digest of everything in it but the addresses of its hosts."""
    bare = replace(layout, hosts=_bare(layout.hosts), spares=_bare(layout.spares))
    return hashlib.sha256(repr(bare).encode()).hexdigest()


def _bare(hosts: Sequence[Host]) -> tuple[Host, ...]:
    return tuple(replace(host, address="") for host in hosts)


def _of_every_queue(policy: Policy) -> Policy:
    return replace(policy, pattern=EVERY_QUEUE)
