"""Pairs of fault kinds as scenarios: how two faults overlap, and on which hosts.

1. Every ordered pair of kinds is combined with every shape in time and every place.
2. A pair is planned as any scenario is: what planning refuses is not played.
3. A pair is verified where both faults were verified active and verified ended.
"""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults.kinds import KINDS, mechanism
from faults.mechanisms import LOCAL
from faults.targets import CLIENT
from harness.cluster.port import Cluster, DeployError
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.model import Experiment, RunPlan
from harness.plan.problems import PlanError
from harness.plan.toml import read_scenario
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.run_folder.manifest import Manifest
from harness.systems import catalogue

SYSTEM, LAYOUT = "reference-mirrored", "all-automatic@T=10"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
OPTIONS = {
    "flap": 'down = "1 s"\nup = "1 s"',
    "slow": 'latency = "1 s"',
    "cut_after": "bytes = 100",
    "slow_peers": 'latency = "1 s"',
}
# When each opens and how long it lasts, in seconds: overlapping, the second within the first, and
# the second as the first is undone.
TIMES = {
    "overlapping": ((0, 14), (6, 14)),
    "nested": ((0, 22), (6, 8)),
    "in the undo": ((0, 8), (7.95, 8)),
}
SAME, OTHER = "same host", "other host"
TARGETS = {SAME: "host of fault 1", OTHER: "other than fault 1"}
LIMIT_S = 420.0
_SCENARIO = """
title = "A pair of faults"

[workload]
queues = ["orders"]
publishers = 2
consumers = 1
keys = 4
rate = 40
deadline = "5 s"
publisher_endpoint = "master of orders"
consumer_endpoint = "master of orders"

[phases]
baseline = "3 s"
recovery = "5 s"
settle = "5 s"
drain_limit = "30 s"
"""


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Two kinds, the first of which opens first."""

    first: str
    second: str
    time: str  # of TIMES
    place: str  # SAME or OTHER; "": one of them means clients

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.first, self.second, self.time, self.place) if part)

    @property
    def source(self) -> str:
        """The scenario."""
        of_clients = [KINDS[kind].applies_to == CLIENT for kind in (self.first, self.second)]
        first = "publisher-1" if of_clients[0] else "master of orders"
        second = TARGETS.get(self.place, "master of orders")
        if of_clients[1]:
            second = "publisher-1" if self.place == SAME or not of_clients[0] else "publisher-2"
        return _SCENARIO + "".join(
            f'[[fault]]\nkind = "{kind}"\ntarget = "{target}"\nopens = "{opens:g} s"\n'
            f'lasts = "{lasts:g} s"\n{OPTIONS.get(kind, "")}\n\n'
            for kind, target, (opens, lasts) in zip(
                (self.first, self.second), (first, second), TIMES[self.time], strict=True
            )
        )


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a pair."""

    verified: bool
    reason: str  # why not


def pairs(deployment: str = LOCAL) -> Iterator[Pair]:
    """Every pair of kinds that the deployment offers."""
    kinds = [kind for kind in KINDS if mechanism(kind, deployment)]
    for first in kinds:
        for second in kinds:
            clients = [KINDS[kind].applies_to == CLIENT for kind in (first, second)]
            places = ("",) if any(clients) and not all(clients) else (SAME, OTHER)
            for time in TIMES:
                yield from (Pair(first, second, time, place) for place in places)


def planned(pair: Pair, deployment: str = LOCAL) -> RunPlan | str:
    """The run that plays a pair, or why planning refuses it."""
    everything = Catalogue(
        (catalogue.load_system(SYSTEM),), (catalogue.load_layout(SYSTEM, LAYOUT),)
    )
    name = f"pairs-{os.getpid()}"
    try:
        scenario = read_scenario("fault-pair", pair.source)
        request = ExperimentOptions(
            name, 7, (scenario,), (SYSTEM,), (LAYOUT,), deployment=deployment
        )
        return plan(request, everything).runs[0]
    except PlanError as refused:
        return "; ".join(problem.text for problem in refused.problems)


async def play(of: RunPlan, folder: Path) -> Played:
    """Play a pair on a cluster of its own, on this machine."""

    async def up(of: RunPlan) -> Cluster:
        return await LocalDeployment(equip).up(of.layout, folder, lambda _: None)

    hooks = Hooks(
        Interrupt(), lambda *_: None, lambda _: None, lambda _: None, lambda _: None, keep=False
    )
    boot_id = BOOT_ID.read_text().strip()
    series = Series(Experiment("e", 7, (of,), ()), folder, boot_id, {}, up, hooks)
    try:
        await asyncio.wait_for(series.perform(), LIMIT_S)
    except (DeployError, TimeoutError) as failure:
        return Played(False, f"the run did not end: {failure!r}")
    return _judged(Manifest.load(folder / "runs" / of.name))


def _judged(manifest: Manifest) -> Played:
    doubts = [f"fault {each.number}: {each.doubt}" for each in manifest.windows if each.doubt]
    whole = len(manifest.windows) == 2 and all(w.verified and w.gone for w in manifest.windows)
    if manifest.failure:
        doubts.append(manifest.failure)
    return Played(whole and not doubts, "; ".join(doubts))
