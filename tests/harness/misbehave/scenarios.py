"""Short runs for misbehaving clusters: each kind calm, and with a crash of the master beside it.

1. One publisher, one key, one consumer: every message's place is promised, so every kind shows.
2. What is confirmed early is lost only with its master, and while nobody consumes it.
3. What is proved by two deliveries with no window between them has seconds of load on either side
   of its crash.
4. What is forgotten is lost only if it never reached its consumer: that one's link hangs until the
   heartbeat ends the connection, with deliveries on their way.
5. What a stale guard confirms is lost where clients know the cut host alone, and have dialled it
   anew before it gives its peers up, after 0.75 T at the earliest: so no publisher waits so long
   for a confirm. While one dials, nothing of it is out: there are two.
"""

from harness.plan.experiment import Catalogue, Request, plan
from harness.plan.misbehave import KINDS, RULES, Misbehave
from harness.plan.model import Experiment, Scenario
from harness.plan.toml import read_scenario
from harness.request import asking

HONEST = "honest"
SYSTEM, LAYOUT, DEPLOYMENT = "reference-mirrored", "all-automatic@T=10", "local"
CUT_LAYOUT = "all-automatic-one@T=2"
SHARES = {"confirm-early": 0.2, "forget": 0.3}
SHARE = 0.05
BY_TWO_DELIVERIES = ("duplicate", "redeliver")

WORKLOAD = """
title = "{name}"
story = "for a misbehaving cluster"

[workload]
queues = ["orders"]
publishers = {publishers}
consumers = {consumers}
keys = 1
rate = 200
body_bytes = 256
durable = true
persistent = true
confirms = true
retry = "until_confirmed"
acknowledge = 10
deadline = "{deadline}"
publishers_enter = "master of orders"
consumers_enter = "mirror of orders"

[workload.amqp]
heartbeat = "{heartbeat}"
"""
PHASES = """
[phases]
baseline = "{baseline}"
recovery = "{recovery}"
settle = "1 s"
drain_limit = "30 s"
"""
CRASH = """
[[fault]]
kind = "kill"
target = "master of orders"
opens = "{opens}"
lasts = "1 s"
"""
CUT = """
[[fault]]
kind = "partition"
target = "master of orders"
lasts = "2 T"
"""
HANG = """
[[fault]]
kind = "hang"
target = "mirror of orders"
clients = "consumers"
lasts = "6 s"
"""


def scenario(kind: str, crash: bool) -> Scenario:
    name = f"{kind}-{'crash' if crash else 'calm'}"
    forget = kind == "forget"
    text = WORKLOAD.format(
        name=name,
        publishers=1,
        consumers=0 if kind == "confirm-early" else 1,
        deadline="2 s",
        heartbeat="2 s" if forget else "60 s",
    )
    text += HANG if forget else ""
    text += CRASH.format(opens="8 s" if forget else "0 s") if crash else ""
    on_either_side = crash and kind in BY_TWO_DELIVERIES
    baseline, recovery = ("4 s", "4 s") if on_either_side else ("2 s", "1 s")
    text += PHASES.format(baseline=baseline, recovery=recovery)
    return read_scenario(name, text)


def cut_off(kind: str) -> Scenario:
    """cut-one-node, as short as it can be."""
    name = f"{kind}-cut"
    text = WORKLOAD.format(
        name=name, publishers=2, consumers=1, deadline="0.5 s", heartbeat="60 s"
    )
    text += CUT + PHASES.format(baseline="2 s", recovery="6 s")
    return read_scenario(name, text)


def experiment(kind: str, seed: int, repeats: int = 1) -> Experiment:
    """The kind's two runs, on one cluster. HONEST: nothing is wrong."""
    return _planned(kind, seed, repeats, LAYOUT, scenario(kind, False), scenario(kind, True))


def cut_off_experiment(kind: str, seed: int, repeats: int = 1) -> Experiment:
    """Runs of a cut, on one cluster. HONEST: nothing is wrong."""
    return _planned(kind, seed, repeats, CUT_LAYOUT, cut_off(kind))


def _planned(kind: str, seed: int, repeats: int, layout: str, *scenarios: Scenario) -> Experiment:
    request = Request(
        name=f"misbehave-{kind}",
        seed=seed,
        scenarios=scenarios,
        systems=(SYSTEM,),
        layouts=(layout,),
        deployment=DEPLOYMENT,
        repeats=repeats,
    )
    return plan(request, Catalogue(asking.systems(), asking.layouts()))


def misbehave(kind: str, seed: int) -> Misbehave | None:
    if kind not in KINDS:
        return None
    return Misbehave(kind, 1.0 if kind in RULES else SHARES.get(kind, SHARE), seed)
