"""Pairs of fault kinds as scenarios: how two faults overlap, and on which hosts.

1. Every ordered pair of kinds is combined with every shape in time and every place.
2. A pair is planned as any scenario is: what planning refuses is not played.
3. A batch is one scenario that plays several pairs, one after the other. The next pair begins when
   both faults of the pair before it have ended.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from faults.core.mechanisms import LOCAL
from faults.core.targets import CLIENT
from faults.kinds import KINDS, mechanism
from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.files.toml import read_scenario
from harness.plan.model import RunPlan
from harness.plan.problems import PlanError
from harness.systems import catalogue

SYSTEM, LAYOUT = "reference-mirrored", "all-automatic@T=10"
OPTIONS = {
    "flap": 'down = "2 s"\nup = "2 s"',
    "slow": 'latency = "1 s"',
    "cut_after": "bytes = 100",
    "slow_peers": 'latency = "1 s"',
    "packet_loss": "loss = 20",
    "packet_delay": 'delay = "200 ms"\njitter = "50 ms"',
}
# When each opens and how long it lasts, in seconds: overlapping, the second within the first, and
# the second as the first is undone.
TIMES = {
    "overlapping": ((0, 7), (5.2, 7)),
    "nested": ((0, 16), (6, 7)),
    "in the undo": ((0, 6.5), (6.45, 6.5)),
}
# The second fault takes seconds to prepare where the first one silences a host.
AFTER_SILENCE = {"overlapping": ((0, 7), (3, 7))}
# Verifying the second fault needs a new connection. Where that is slow, or waits until the nodes
# have given up a silent one, a pair is played alone, for longer.
ALONE = {"overlapping": ((0, 20), (6, 20))}
# Nodes give up a peer that is silent for longer: both may go on then, and stay apart for good.
SILENT_MAX_S = 7.2
BATCH, FEWEST = 16, 8  # pairs in one batch
PAUSE_S = 3  # between two pairs: clients connect, and a host that was away copies the queue
SAME, OTHER = "same host", "other host"
TARGETS = {SAME: "host of fault {}", OTHER: "other than fault {}"}
_MASTER = "master of orders"
_HEAD = """
title = "Pairs of faults"

[workload]
queues = ["orders"]
publishers = {publishers}
consumers = 1
keys = 4
rate = 10
deadline = "5 s"
publisher_endpoint = "master of orders"
consumer_endpoint = "master of orders"

[phases]
baseline = "3 s"
recovery = "5 s"
settle = "5 s"
drain_limit = "30 s"
"""


Times = tuple[tuple[float, float], ...]  # of each fault: when it opens, how long it lasts; s


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Two kinds, in the order of their windows."""

    first: str
    second: str
    time: str  # of TIMES
    place: str  # SAME or OTHER; "": one of them means clients

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.first, self.second, self.time, self.place) if part)

    @property
    def kinds(self) -> tuple[str, str]:
        return self.first, self.second

    @property
    def source(self) -> str:
        """The scenario of this pair alone."""
        return source((self,))

    @property
    def clients(self) -> int:
        """The number of publishers that its faults mean."""
        meant = sum(KINDS[kind].applies_to == CLIENT for kind in self.kinds)
        return min(meant, 1) if self.place == SAME else meant

    @property
    def crashes(self) -> int:
        """The number of clients that it kills."""
        return sum(KINDS[kind].ends_client for kind in self.kinds)

    @property
    def spent(self) -> int:
        """The number of publishers that later pairs of a batch do not mean."""
        return self.clients if self.crashes else 0

    @property
    def times(self) -> Times:
        """When each fault opens in a batch, and how long it lasts."""
        special = AFTER_SILENCE if _silences(self.first) else TIMES
        return special.get(self.time, TIMES[self.time])

    @property
    def times_alone(self) -> Times:
        """The same of a pair that is played alone."""
        return ALONE.get(self.time, self.times)

    @property
    def lasts_s(self) -> float:
        return max(opens + lasts for opens, lasts in self.times)

    @property
    def splits(self) -> bool:
        """Whether it silences a host for so long that its peers may give it up."""
        spans = [
            lasts if _silences(kind) else 0.0
            for kind, (_, lasts) in zip(self.kinds, self.times, strict=True)
        ]
        if self.place == SAME and all(spans):
            return self.lasts_s > SILENT_MAX_S
        return any(lasts > SILENT_MAX_S for lasts in spans)

    def targets(self, number: int, publisher: int) -> tuple[str, str]:
        """`number`: of its first fault. `publisher`: the first one that is alive."""
        of_clients = [KINDS[kind].applies_to == CLIENT for kind in self.kinds]
        one, other = f"publisher-{publisher}", f"publisher-{publisher + 1}"
        first = one if of_clients[0] else _MASTER
        second = TARGETS[self.place].format(number) if self.place else _MASTER
        if of_clients[1]:
            second = other if of_clients[0] and self.place == OTHER else one
        return first, second


def _silences(kind: str) -> bool:
    """Kinds with options are late, or come and go: peers still hear something in time."""
    return KINDS[kind].silences_peers and kind not in OPTIONS


def source(batch: Sequence[Pair], *, alone: bool = False) -> str:
    """The scenario that plays these pairs, one after the other. `alone`: it has the one, whose
    faults last longer.

    A publisher that was killed is replaced by one of another name: later pairs mean others.
    """
    parts = [_HEAD.format(publishers=_publishers(batch))]
    begins_s, publisher = 0.0, 1
    for number, pair in zip(range(1, 2 * len(batch), 2), batch, strict=True):
        targets = pair.targets(number, publisher)
        times = pair.times_alone if alone else pair.times
        for kind, target, (opens, lasts) in zip(pair.kinds, targets, times, strict=True):
            parts.append(
                f'[[fault]]\nkind = "{kind}"\ntarget = "{target}"\n'
                f'opens = "{begins_s + opens:g} s"\nlasts = "{lasts:g} s"\n'
                f"{OPTIONS.get(kind, '')}\n\n"
            )
        begins_s += pair.lasts_s + PAUSE_S
        publisher += pair.spent
    return "".join(parts)


def _publishers(batch: Sequence[Pair]) -> int:
    """As few as there can be: each is a process for the whole run."""
    spent, most = 0, 1
    for pair in batch:
        most = max(most, spent + pair.clients)
        spent += pair.spent
    return most


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
    return planned_batch((pair,), deployment)


def planned_batch(
    batch: Sequence[Pair], deployment: str = LOCAL, *, alone: bool = False
) -> RunPlan | str:
    """The run that plays these pairs, or why planning refuses it."""
    everything = Catalogue(
        (catalogue.load_system(SYSTEM),), (catalogue.load_layout(SYSTEM, LAYOUT),)
    )
    name = f"pairs-{os.getpid()}"
    try:
        scenario = read_scenario("fault-pairs", source(batch, alone=alone))
        request = ExperimentOptions(
            name, 7, (scenario,), (SYSTEM,), (LAYOUT,), deployment=deployment
        )
        return plan(request, everything).runs[0]
    except PlanError as refused:
        return "; ".join(problem.text for problem in refused.problems)


def batches(of: Iterable[Pair], size: int = BATCH) -> list[tuple[Pair, ...]]:
    """These pairs in batches of at most `size`; each batch has a share of those that kill.

    A pair that may leave the cluster split comes last in its batch: nothing could follow.
    """
    ordered = sorted(of, key=lambda pair: (pair.crashes, pair))
    splitting = [pair for pair in ordered if pair.splits]
    others = [pair for pair in ordered if not pair.splits]
    count = max(-(-len(ordered) // size), min(len(splitting), len(ordered) // FEWEST))
    firsts = [others[start::count] for start in range(count)]
    lasts = [(pair,) for pair in splitting]
    joined = [(*one, *last) for one, last in zip_longest(firsts, lasts, fillvalue=())]
    return [batch for batch in joined if batch]
