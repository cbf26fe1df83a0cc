"""For each shipped claim three stories: it holds, it is refuted, and it is not judged.

1. An entry is (holds, refuted, not judged); of a claim about some cases the second is one without
   an example, which refutes nothing.
2. The third is what the claim's source excepts, or what nobody could have seen.
3. Stories are told anew for each test: a Story remembers what was said to it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from harness.analyse.judge import Outcome
from tests.findings import OF_LOGS, Story

NOT_APPLICABLE, INCONCLUSIVE = Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE
Tell = Callable[[], Story]
Why = tuple[Outcome, str]  # and what the verdict says of it


class Three(NamedTuple):
    holds: Tell
    refuted: Tell
    not_judged: Tell
    why: Why


NO_ACK = {"acknowledges": False, "no_ack": True}
NOBODY = {"consumers": 0, "acknowledges": False, "no_ack": False}
EMPTY = {"synchronised_mirrors_at_fault": 0}
ALONE = {"copies": 1, "mirrors_at_fault": 0, **EMPTY}
ONE_MIRROR = {"mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
LIVELY = {**OF_LOGS, "name_servers_at_target": 0, "publishers_attached_to_target": 0}
SINGLE = {**OF_LOGS, "masters": 1}
OF_NAME_SERVER = {**OF_LOGS, "fault_target_role": "name server"}
OF_ALL_NAME_SERVERS = {**OF_NAME_SERVER, "name_servers_left": 0}
ALWAYS = {**EMPTY, "promote_on_shutdown": "always"}
AWAY = {"fault_target_role": "mirror", "publishers_entered_at_target": False}
PAIR = {"entrance": "haproxy-pair", "fault_target_role": "balancer"}
BALANCED = {"entrance": "haproxy"}
MASTER_AGAIN = {"fault_target_role": "master", **ONE_MIRROR, "promoted_mirror_rank": 1}


def told(kind: str = "kill", **state: object) -> Story:
    return Story(kind, **state)


def out(kind: str = "kill", promise: str = "fault", **state: object) -> Story:
    """The run was out, and the fault's end ended that."""
    return Story(kind, **state).service("out", promise=promise, ended="undo")


def lost(number: int = 3, kind: str = "kill", **state: object) -> Story:
    return Story(kind, **state).count("lost", "replicated", number)


def forgotten() -> Story:
    return Story().count("forgotten", "", 1)


def delayed() -> Story:
    return Story().count("delayed", "", 700).calm()


def calmly(**state: object) -> Story:
    return Story(**{"faults": 0, **state}).calm()  # type: ignore[arg-type]


def in_transactions(fate: str) -> Story:
    return Story().count("transactions", fate, 500)


def unread() -> Story:
    """A consumer died, and nobody knows what it had got."""
    return Story().doubt("loss", "consumer_log", worker=7)


def recovered(**state: object) -> Story:
    """Every host was stopped in turn and started again, the last one first; nobody consumed."""
    usual: dict[str, object] = {
        **NOBODY,
        "operations": 5,
        "all_stopped": "in turn",
        "started_first": "last stopped",
        "lost_disk": "none",
        "node_forgotten": "none",
        "queues_have_masters": True,
        "mirrors_after_operations": 2,
    }
    return calmly(**(usual | state))


def second_death(**state: object) -> Story:
    """The first master dies and stays away; then the next one goes."""
    story = Story(partition_handling="ignore", faults=2, windows={"2": MASTER_AGAIN}, **state)
    story.calm().window(1, "kill", opens=12, lasts=None)
    return story.window(2, "kill", opens=32)


def joint_hang(attached: int = 1) -> Story:
    """A broker falls silent, and at the same time a name server elsewhere."""
    server = {"fault_target_role": "name server", "publishers_attached_to_target": attached}
    server |= {"name_servers_at_target": 1}
    story = Story("freeze", **LIVELY, windows={"2": server})
    return story.window(2, "freeze", opens=13, lasts=13)


def stopped_unsynchronised(**state: object) -> Story:
    return told("stop", **{**EMPTY, "promote_on_shutdown": "when-synced", **state})


def reordered(number: int) -> Story:
    return Story(**OF_LOGS).count("reordered", "", number)


def unpromised_order(**state: object) -> Story:
    story = Story(**state).without("in_order")
    return story.count("not_judged", "not_promised", 21_400)


def unconfirmed(number: int = 0, **state: object) -> Story:
    story = Story(confirms=False, **state).count("state", "acknowledged", 0)
    story.count("state", "indeterminate", 21_400).count("lost_indeterminate", "", number)
    story.facts = replace(story.facts, confirms=False)
    return story


def rejoined(role: str = "mirror", **state: object) -> Story:
    return Story("partition", **state, rejoined_as=role)


def linked(kind: str = "hang") -> Story:
    return Story(kind, fault_target_role="none")


def dark(number: int = 0, **state: object) -> Story:
    """The master's host lost its power, and with it what was not yet on disk."""
    return Story("power_loss", **state).count("lost", "replicated", number)


STORIES: dict[str, Three] = {
    "nothing-unexpected": Three(
        told,
        lambda: told().count("unexpected", "never_sent", 1),
        unread,
        (INCONCLUSIVE, "the log of consumer 1 is not closed"),
    ),
    "nothing-corrupt": Three(
        told,
        lambda: told().count("corrupt", "payload", 1),
        unread,
        (INCONCLUSIVE, "the log of consumer 1 is not closed"),
    ),
    "refused-stays-refused": Three(
        told,
        lambda: told().count("refused_but_delivered", "refused", 1),
        unread,
        (INCONCLUSIVE, "the log of consumer 1 is not closed"),
    ),
    "confirmed-hence-delivered": Three(
        told,
        lambda: told().count("stranded", "replicated", 1),
        lambda: lost(**NO_ACK),
        (NOT_APPLICABLE, "no_ack == false"),
    ),
    "confirmed-copy-is-kept": Three(
        told,
        lambda: told().count("attempt_lost", "replicated", 1),
        lambda: told(durable=False).count("attempt_lost", "replicated", 1),
        (NOT_APPLICABLE, "keeps == true"),
    ),
    "acknowledged-hence-not-again": Three(
        told,
        lambda: told().count("duplicated", "redelivery_after_ack", 1),
        lambda: told(**NO_ACK),
        (NOT_APPLICABLE, "acknowledges == true"),
    ),
    "unacknowledged-hence-again": Three(
        told,
        forgotten,
        lambda: told().count("forgotten_unknown", "drain", 2),
        (INCONCLUSIVE, "2 more never came again"),
    ),
    "one-copy": Three(
        told,
        lambda: told().count("duplicated", "diverged", 1),
        lambda: told().count("duplicated", "ambiguous", 2),
        (INCONCLUSIVE, "2 more may be"),
    ),
    "nothing-misrouted": Three(
        told,
        lambda: told().count("misrouted", "", 1),
        unread,
        (INCONCLUSIVE, "the log of consumer 1 is not closed"),
    ),
    "healed-hence-served": Three(
        told,
        lambda: told().service("out", scope="queue", name="orders", promise="healed"),
        lambda: out(promise="healed", durable=False),
        (NOT_APPLICABLE, "keeps == true"),
    ),
    "nothing-early": Three(
        delayed,
        lambda: delayed().count("early", "", 1),
        lambda: delayed().count("early_unknown", "", 4),
        (INCONCLUSIVE, "no more than the clocks are off"),
    ),
    "nothing-overdue": Three(
        lambda: calmly().count("delayed", "", 700),
        lambda: calmly().count("delayed", "", 700).count("overdue", "", 1),
        lambda: told().count("delayed", "", 700).count("overdue", "", 1),
        (NOT_APPLICABLE, "faults == 0"),
    ),
    "rolled-back-stays-unseen": Three(
        lambda: in_transactions("rollback"),
        lambda: in_transactions("rollback").count("rolled_back_but_delivered", "rollback", 1),
        lambda: in_transactions("rollback").count("rollback_unknown", "rollback", 1),
        (INCONCLUSIVE, "nobody knows what the broker was told"),
    ),
    "no-transaction-torn": Three(
        lambda: in_transactions("commit"),
        lambda: in_transactions("commit").count("torn_transaction", "stored", 1),
        lambda: in_transactions("rollback"),
        (NOT_APPLICABLE, "no transaction was to be committed"),
    ),
    "confirmed-is-on-disk": Three(
        dark,
        lambda: dark(1),
        lambda: lost(1),
        (NOT_APPLICABLE, "page_cache_lost == true"),
    ),
    "confirmed-is-on-all-mirrors": Three(
        lambda: told(**ONE_MIRROR),
        lambda: lost(1),
        told,
        (NOT_APPLICABLE, "of 2 mirrors the one that took over was read alone"),
    ),
    "confirmed-in-memory-is-kept": Three(
        lambda: told(**OF_LOGS),
        lambda: told(**OF_LOGS).count("lost", "buffered", 1),
        lambda: lost(1),
        (NOT_APPLICABLE, "confirm_waits_for_disk == false"),
    ),
    "mirror-takes-over": Three(
        told,
        out,
        lambda: out("stop", **EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "fails-over-down-to-the-last": Three(
        second_death,
        lambda: second_death().service("out", window=2, ended="undo"),
        lambda: out(partition_handling="ignore"),
        (NOT_APPLICABLE, "masters_down_before >= 1"),
    ),
    "oldest-mirror-takes-over": Three(
        told,
        lambda: told(promoted_mirror_rank=2),
        lambda: told(promoted_mirror_rank=2, **EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "election-loses-nothing": Three(
        told,
        lost,
        lambda: lost(**EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "mirrored-queue-works-on": Three(
        told,
        lambda: told().consumption(False),
        lambda: out(mirrors_at_fault=0),
        (NOT_APPLICABLE, "mirrors_at_fault >= 1"),
    ),
    "duplicates-are-requeued": Three(
        lambda: told().count("duplicated", "redelivery", 30),
        forgotten,
        lambda: told(**EMPTY).count("forgotten", "", 1),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "masters-clients-are-cut-off": Three(
        told,
        lambda: told(clients_of_target_cut_off=False),
        lambda: told(clients_of_target_cut_off={"moot": "nobody was connected to it"}),
        (NOT_APPLICABLE, "nobody was connected to it"),
    ),
    "untold-consumer-waits-forever": Three(
        lambda: told().silent_consumer(),
        told,
        lambda: told(consumers_entered_at_target=True).silent_consumer(),
        (NOT_APPLICABLE, "consumers_entered_at_target == false"),
    ),
    "told-consumer-is-cancelled": Three(
        lambda: told(cancel_on_ha_failover=True, consumers_cancelled=1),
        lambda: told(cancel_on_ha_failover=True, consumers_cancelled=0),
        lambda: told(consumers_cancelled=0),
        (NOT_APPLICABLE, "cancel_on_ha_failover == true"),
    ),
    "other-masters-take-over": Three(
        lambda: told(**OF_LOGS),
        lambda: out(**OF_LOGS),
        lambda: out(**SINGLE),
        (NOT_APPLICABLE, "masters >= 2"),
    ),
    "order-breaks-at-a-switch": Three(
        lambda: reordered(135),
        lambda: reordered(0),
        lambda: unpromised_order(**OF_LOGS),
        (NOT_APPLICABLE, "order is not promised"),
    ),
    "single-master-is-down": Three(
        lambda: out(**SINGLE),
        lambda: told(**SINGLE),
        lambda: told(**SINGLE, operations=1),
        (NOT_APPLICABLE, "operations == 0"),
    ),
    "broken-links-are-noticed-soon": Three(
        lambda: told(**OF_LOGS),
        lambda: out(promise="poll", **OF_LOGS),
        lambda: out("freeze", promise="poll", **OF_LOGS),
        (NOT_APPLICABLE, "fault_kind == kill | stop"),
    ),
    "silent-broker-is-noticed-in-time": Three(
        lambda: told("freeze", **LIVELY),
        lambda: out("freeze", promise="notice", **LIVELY),
        lambda: out("freeze", promise="notice", **OF_LOGS),
        (NOT_APPLICABLE, "attached_name_server_silent == false"),
    ),
    "silent-name-server-blinds-its-clients": Three(
        lambda: out("freeze", **OF_LOGS),
        lambda: told("freeze", **OF_LOGS),
        lambda: told("freeze", **{**OF_LOGS, "publishers_attached_to_target": 0}),
        (NOT_APPLICABLE, "publishers_attached_to_target >= 1"),
    ),
    "separate-name-servers-help": Three(
        lambda: told("freeze", **LIVELY),
        lambda: out("freeze", promise="notice", **LIVELY),
        lambda: joint_hang().service("out", promise="notice"),
        (NOT_APPLICABLE, "attached_name_server_silent == false"),
    ),
    "joint-hang-blinds-apart-too": Three(
        lambda: joint_hang().service("out", ended="undo"),
        joint_hang,
        lambda: joint_hang(attached=0),
        (NOT_APPLICABLE, "attached_name_server_silent == true"),
    ),
    "one-name-server-is-enough": Three(
        lambda: told(**OF_NAME_SERVER),
        lambda: out(**OF_NAME_SERVER),
        lambda: out(**OF_ALL_NAME_SERVERS),
        (NOT_APPLICABLE, "name_servers_left >= 1"),
    ),
    "clients-go-on-without-name-servers": Three(
        lambda: told(**OF_ALL_NAME_SERVERS),
        lambda: told(**OF_ALL_NAME_SERVERS).silent_consumer(),
        lambda: told(**{**OF_ALL_NAME_SERVERS, "faults": 2}).silent_consumer(),
        (NOT_APPLICABLE, "faults == 1"),
    ),
    "silent-name-server-is-bridged": Three(
        lambda: told("freeze", **OF_NAME_SERVER),
        lambda: out("freeze", **OF_NAME_SERVER),
        lambda: out("freeze", **{**OF_NAME_SERVER, "faults": 2}),  # the broker may be down, too
        (NOT_APPLICABLE, "faults == 1"),
    ),
    "unsynchronised-messages-are-lost": Three(
        lambda: lost(**EMPTY),
        lambda: told(**EMPTY),
        lambda: lost(),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault == 0"),
    ),
    "crash-promotes-any-mirror": Three(
        lambda: told(**EMPTY),
        lambda: out(**EMPTY),
        lambda: out("stop", **EMPTY),
        (NOT_APPLICABLE, "fault_kind == kill"),
    ),
    "stop-promotes-no-empty-mirror": Three(
        lambda: stopped_unsynchronised().service("out", ended="undo"),
        stopped_unsynchronised,
        lambda: stopped_unsynchronised(promote_on_shutdown="always"),
        (NOT_APPLICABLE, "promote_on_shutdown == when-synced"),
    ),
    "stop-always-promotes": Three(
        lambda: told("stop", **ALWAYS),
        lambda: out("stop", **ALWAYS),
        lambda: out("kill", **ALWAYS, promote_on_failure="when-synced"),
        (NOT_APPLICABLE, "promote_on_failure == always"),
    ),
    "always-promoting-loses": Three(
        lambda: lost(kind="stop", **ALWAYS),
        lambda: told("stop", **ALWAYS),
        lambda: told("stop", **EMPTY),
        (NOT_APPLICABLE, "promote_on_shutdown == always"),
    ),
    "mirror-failure-harms-nobody": Three(
        lambda: told(**AWAY).missed(0),
        lambda: told(**AWAY).missed(1),
        lambda: told(**{**AWAY, "publishers_entered_at_target": True}).missed(1),
        (NOT_APPLICABLE, "publishers_entered_at_target == false"),
    ),
    "silent-mirror-is-noticed-late": Three(
        lambda: told("freeze", **AWAY).silence(1.0),
        lambda: told("freeze", **AWAY).silence(0.999),
        lambda: told("freeze", **AWAY, confirm_waits_for_mirrors=False),
        (NOT_APPLICABLE, "confirm_waits_for_mirrors == true"),
    ),
    "unmirrored-queue-is-down": Three(
        lambda: out(**ALONE),
        lambda: told(**ALONE),
        told,
        (NOT_APPLICABLE, "mirrors_at_fault == 0"),
    ),
    "durable-queue-returns": Three(
        lambda: out(**ALONE),
        lambda: out(promise="healed", **ALONE),
        lambda: out(promise="healed", durable=False, **ALONE),
        (NOT_APPLICABLE, "durable == true"),
    ),
    "transient-queue-is-gone": Three(
        lambda: out(promise="healed", durable=False, **ALONE),
        lambda: out(durable=False, **ALONE),
        lambda: out(promise="healed", **ALONE),
        (NOT_APPLICABLE, "durable == false"),
    ),
    "unconfirmed-survive-an-election": Three(
        unconfirmed,
        lambda: unconfirmed(19),
        lambda: unconfirmed(19, **EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "no-ack-loses": Three(
        lambda: lost(**NO_ACK, consumers_entered_at_target=True),
        lambda: told(**NO_ACK, consumers_entered_at_target=True),
        lambda: lost(consumers_entered_at_target=True),
        (NOT_APPLICABLE, "no_ack == true"),
    ),
    "floating-address-moves": Three(
        lambda: told(**PAIR),
        lambda: out(**PAIR),
        lambda: out(**{**PAIR, "entrance": "haproxy"}),
        (NOT_APPLICABLE, "entrance == haproxy-pair"),
    ),
    "balancer-avoids-dead-nodes": Three(
        lambda: told(**BALANCED),
        lambda: out(**BALANCED),
        lambda: out(**BALANCED, mirrors_at_fault=0),
        (NOT_APPLICABLE, "mirrors_at_fault >= 1"),
    ),
    "host-list-goes-on": Three(
        told,
        out,
        lambda: out(entrance="one"),
        (NOT_APPLICABLE, "entrance == hosts"),
    ),
    "rejoined-node-starts-empty": Three(
        rejoined,
        lambda: rejoined("master"),
        lambda: rejoined("master", partition_handling="ignore"),
        (NOT_APPLICABLE, "partition_handling != ignore"),
    ),
    "any-node-reaches-any-queue": Three(
        linked,
        lambda: linked().service("out", scope="publisher", name="1"),
        lambda: linked().service("sick"),
        (INCONCLUSIVE, "the load was sick before the fault"),
    ),
    "queue-is-first-in-first-out": Three(
        told,
        lambda: told().count("reordered", "", 1),
        unpromised_order,
        (NOT_APPLICABLE, "order is not promised"),
    ),
    "last-stopped-starts-first": Three(
        recovered,
        lambda: recovered(queues_have_masters=False),
        lambda: recovered(started_first="other"),
        (NOT_APPLICABLE, "started_first == last stopped"),
    ),
    "first-stopped-waits": Three(
        lambda: recovered(started_first="first stopped"),
        lambda: recovered(started_first="first stopped").count("lost", "stored", 3),
        lambda: recovered(started_first="first stopped", lost_disk="last stopped"),
        (NOT_APPLICABLE, "lost_disk == none"),
    ),
    "all-at-once-come-back": Three(
        lambda: recovered(all_stopped="at once"),
        lambda: recovered(all_stopped="at once").count("stranded", "stored", 3),
        lambda: recovered(all_stopped="at once", queues_have_masters=None),
        (INCONCLUSIVE, "queues_have_masters: it was not recorded"),
    ),
    "first-stopped-can-be-replaced": Three(
        lambda: recovered(lost_disk="first stopped", node_forgotten="online"),
        lambda: recovered(
            lost_disk="first stopped", node_forgotten="online", queues_have_masters=False
        ),
        lambda: recovered(lost_disk="first stopped"),
        (NOT_APPLICABLE, "node_forgotten == online"),
    ),
    "last-stopped-can-be-replaced": Three(
        lambda: recovered(lost_disk="last stopped", node_forgotten="offline"),
        lambda: recovered(
            lost_disk="last stopped", node_forgotten="offline", queues_have_masters=False
        ),
        lambda: recovered(lost_disk="last stopped", queues_have_masters=False),
        (NOT_APPLICABLE, "node_forgotten == offline"),
    ),
    "nothing-comes-of-no-disk": Three(
        lambda: recovered(lost_disk="all", queues_have_masters=False),
        lambda: recovered(lost_disk="all"),
        recovered,
        (NOT_APPLICABLE, "lost_disk == all"),
    ),
    "restarted-node-discards-its-disk": Three(
        lambda: recovered().count("lost", "stored", 3),
        recovered,
        lambda: recovered(consumers=1, acknowledges=True),
        (NOT_APPLICABLE, "consumers == 0"),
    ),
}
