"""Short runs for misbehaving clusters: each kind calm, and with a crash of the master beside it.

1. One publisher, one key, one consumer: every message's place is promised, so every kind shows.
2. What is confirmed early is lost only with its master, and before a consumer gets it.
3. What is proved by two deliveries with no window between them has seconds of load on either side
   of its crash.
4. What is confirmed early is lost only if some of it is held back at that very moment: between two
   spans of holding back there is a gap, of some 10 ms in 210. So its master is killed three times.
5. What is forgotten is lost only if it never reached its consumer: that one's link hangs until the
   heartbeat ends the connection, with deliveries on their way.
6. What a stale guard confirms is lost where the publisher knows the cut host alone, and has
   dialled it again when that gives its peers up, 0.75 to 1.25 T after the cut. While it dials, it
   has nothing out: so its deadline lets it dial once before, with time to connect, and not again.
"""

from collections.abc import Mapping

from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.files.toml import read_scenario
from harness.plan.misbehave import KINDS, RULES, Misbehave
from harness.plan.model import Experiment, Scenario
from harness.request import run_request

HONEST = "honest"
SYSTEM, LAYOUT, DEPLOYMENT = "reference-mirrored", "all-automatic@T=10", "local"
LEDGER_SYSTEM, LEDGER_LAYOUT = "reference-dledger", "colocated@compressed"
REPLICA_SYSTEM, REPLICA_LAYOUT = "reference-ctgmq", "colocated@compressed"
SLAVE_ACK_LAYOUT = "colocated-slave-ack@compressed"
LOGS_SYSTEM, LOGS_LAYOUT = "reference-2m2s", "colocated@compressed"
CUT_LAYOUT, CUT_DEADLINE = "all-automatic-one@T=10", "6.3 s"  # 6.3 < 7.5, and 12.6 > 12.5
SHARES = {"confirm-early": 0.5, "forget": 0.3, "half": 0.3}
SHARE = 0.05
# When the master is killed in the run beside the crash, from the first fault's time on.
KILLS = {"confirm-early": ("0 s", "5 s", "10 s"), "forget": ("8 s",)}
BY_TWO_DELIVERIES = ("duplicate", "redeliver")
# What is confirmed early is lost with a master whose slave is made the master while it is away;
# what is cut off was on the way to no client.
PROMOTED, TRUNCATED = "confirm-early", "truncate"
ONE_GROUP = "one-group@compressed"
PROMOTION = """
[[fault]]
kind = "kill"
target = "master of orders"
opens = "0 s"
lasts = "20 s"

[[operation]]
kind = "promote"
target = "orders"
at = "3 s"
"""
IN_TRANSACTIONS = "half"
SETTLE, CHECKED = "1 s", "70 s"  # a broker may ask for the fate of a half until then
TRANSACTIONS = """
[workload.rocketmq]
transactional_percent = 20
fates = ["commit", "rollback"]
"""
REWOUND = "rewind"  # a message comes again ten seconds later, by a pull that finds others

# Who is away when (which member, from when on, for how long), in a group without a rule. Without
# `majority` a leader confirms alone, and dies. Without `complete-log` a follower that was away may
# be elected when it meets the other one, which has everything.
LEADER, FIRST, SECOND = "leader", "first follower", "second follower"
AWAY = {
    "without-majority": ((FIRST, 0, 8), (SECOND, 0, 8), (LEADER, 5, 12)),
    "without-complete-log": ((FIRST, 0, 11), (SECOND, 9, 8), (LEADER, 9, 24)),
}
# The same of a group of CTGMQ, whose first follower is its slave. A silent broker is dead after
# 10 s, and its master alone in the set after 2 s. If no name server answers, it serves for 7 s.
_NO_NAME_SERVERS = (("rkg1/name-server", 0, 9), ("rkg2/name-server", 0, 9), ("rkg3", 0, 9))
AWAY_OF_REPLICAS = {
    "without-in-set": ((FIRST, 0, 18), (LEADER, 12, 24)),
    "without-ask-first": ((FIRST, 0, 20), (LEADER, 10, 1)),
    "without-commit-shrink": ((FIRST, 0, 13), *_NO_NAME_SERVERS, (LEADER, 7, 32)),
    "without-error-codes": ((FIRST, 0, 13), *_NO_NAME_SERVERS, (LEADER, 7, 32)),
}

WORKLOAD = """
title = "{name}"
story = "for a misbehaving cluster"

[workload]
queues = ["orders"]
publishers = 1
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
publisher_endpoint = "master of orders"
consumer_endpoint = "mirror of orders"

[workload.amqp]
heartbeat = "{heartbeat}"
"""
LOG_WORKLOAD = """
title = "{name}"
story = "for misbehaving brokers that keep logs"

[workload]
queues = ["orders"]
publishers = 1
consumers = {consumers}
keys = 1
rate = 200
body_bytes = 256
durable = true
persistent = true
confirms = true
retry = "until_confirmed"
acknowledge = 10
deadline = "3 s"
"""
PHASES = """
[phases]
baseline = "{baseline}"
recovery = "{recovery}"
settle = "{settle}"
drain_limit = "30 s"
"""
CRASH = """
[[fault]]
kind = "kill"
target = "master of orders"
opens = "{opens}"
lasts = "1 s"
"""
DEATH = """
[[fault]]
kind = "kill"
target = "{target}"
opens = "{opens} s"
lasts = "{lasts} s"
"""
CUT = """
[[fault]]
kind = "partition"
target = "master of orders"
lasts = "1.5 T"
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
        consumers=0 if kind == "confirm-early" else 1,
        deadline="2 s",
        heartbeat="2 s" if forget else "60 s",
    )
    text += HANG if forget else ""
    if crash:
        text += "".join(CRASH.format(opens=opens) for opens in KILLS.get(kind, ("0 s",)))
    on_either_side = crash and kind in BY_TWO_DELIVERIES
    baseline, recovery = ("4 s", "4 s") if on_either_side else ("2 s", "1 s")
    text += PHASES.format(settle=SETTLE, baseline=baseline, recovery=recovery)
    return read_scenario(name, text)


def cut_off(kind: str) -> Scenario:
    """cut-one-node, as short as it can be."""
    name = f"{kind}-cut"
    text = WORKLOAD.format(name=name, consumers=1, deadline=CUT_DEADLINE, heartbeat="60 s")
    text += CUT + PHASES.format(settle=SETTLE, baseline="2 s", recovery="6 s")
    return read_scenario(name, text)


def experiment(kind: str, seed: int, repeats: int = 1) -> Experiment:
    """The kind's two runs, on one cluster. HONEST: nothing is wrong."""
    return _planned(kind, seed, repeats, LAYOUT, scenario(kind, False), scenario(kind, True))


def group_of(kind: str) -> tuple[str, str]:
    """Return the system and the layout that a rule is of."""
    if kind in AWAY:
        return LEDGER_SYSTEM, LEDGER_LAYOUT
    layout = SLAVE_ACK_LAYOUT if kind == "without-ask-first" else REPLICA_LAYOUT
    return REPLICA_SYSTEM, layout


def group_scenario(kind: str, members: Mapping[str, str]) -> Scenario:
    """`members`: places by LEADER, FIRST and SECOND."""
    text = LOG_WORKLOAD.format(name=kind, consumers=0)
    for which, opens, lasts in {**AWAY, **AWAY_OF_REPLICAS}[kind]:
        text += DEATH.format(target=members.get(which, which), opens=opens, lasts=lasts)
    text += PHASES.format(settle=SETTLE, baseline="3 s", recovery="8 s")
    return read_scenario(kind, text)


def group_experiment(kind: str, seed: int, members: Mapping[str, str]) -> Experiment:
    """One run of a group that loses its members one after another."""
    system, layout = group_of(kind)
    return _planned(kind, seed, 1, layout, group_scenario(kind, members), system=system)


def cut_off_experiment(kind: str, seed: int, repeats: int = 1) -> Experiment:
    """Runs of a cut, on one cluster. HONEST: nothing is wrong."""
    return _planned(kind, seed, repeats, CUT_LAYOUT, cut_off(kind))


def _planned(
    kind: str,
    seed: int,
    repeats: int,
    layout: str,
    *scenarios: Scenario,
    client: str = "",
    system: str = SYSTEM,
) -> Experiment:
    request = ExperimentOptions(
        name=f"misbehave-{kind}",
        seed=seed,
        scenarios=scenarios,
        systems=(system,),
        layouts=(layout,),
        clients=(client,) if client else (),
        deployment=DEPLOYMENT,
        repeats=repeats,
    )
    return plan(request, Catalogue(run_request.systems(), run_request.layouts()))


def logs_experiment(kind: str, seed: int, repeats: int = 1) -> Experiment:
    """As `experiment`, of brokers that keep logs."""
    played = log_scenario(kind, False), log_scenario(kind, True)
    # The decisions of the real client are the ones to be undone.
    client = "rocketmq-java-5.3.3" if kind == IN_TRANSACTIONS else ""
    layout = ONE_GROUP if kind == PROMOTED else LOGS_LAYOUT
    return _planned(kind, seed, repeats, layout, *played, client=client, system=LOGS_SYSTEM)


def log_scenario(kind: str, crash: bool) -> Scenario:
    name = f"log-{kind}-{'crash' if crash else 'calm'}"
    consumers = 0 if kind in (PROMOTED, TRUNCATED) else 1
    text = LOG_WORKLOAD.format(name=name, consumers=consumers)
    text += TRANSACTIONS if kind == IN_TRANSACTIONS else ""
    if crash:
        text += PROMOTION if kind == PROMOTED else CRASH.format(opens="0 s")
    baseline, recovery = ("4 s", "4 s") if crash else ("2 s", "1 s")
    if kind in (REWOUND, HONEST):
        baseline = "14 s"
    settle = CHECKED if kind == IN_TRANSACTIONS else SETTLE
    text += PHASES.format(settle=settle, baseline=baseline, recovery=recovery)
    return read_scenario(name, text)


def misbehave(kind: str, seed: int) -> Misbehave | None:
    if kind not in KINDS:
        return None
    return Misbehave(kind, 1.0 if kind in RULES else SHARES.get(kind, SHARE), seed)
