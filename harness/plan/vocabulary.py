"""The facts that claims may speak of: name, type, what it means. `list facts` shows them.

1. Declared facts come from the plan, operated and recorded ones from the harness, found ones from
   the marts; what follows from others has a place of its own.
2. A fact `of a window` may differ between fault windows; a claim is then judged for each window.
3. `count.detail` narrows a count: `duplicated.stored_twice`, `lost.replicated`.
4. Packages bring facts of their own (brought_facts.py, harness/judging/known_facts.py).
"""

from dataclasses import dataclass

from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.service import FAULT, HEALED


@dataclass(frozen=True, slots=True)
class Fact:
    kind: type  # bool, str or float
    of_window: bool
    meaning: str


DECLARED: dict[str, Fact] = {
    "copies": Fact(float, False, "copies of a queue that the layout wants"),
    "masters": Fact(float, False, "masters among which the messages of a queue are spread"),
    "synchronise": Fact(str, False, "automatic, manual or none"),
    "partition_handling": Fact(str, False, "what the layout does about partitions"),
    "mirrored_on": Fact(
        str, False, "hosts that mirror a queue, by policy: all, exactly, nodes, none"
    ),
    "client_endpoint": Fact(
        str, False, "where clients connect: hosts, one, haproxy, haproxy-pair, balancer"
    ),
    "promote_on_shutdown": Fact(
        str,
        False,
        "whether a stop may promote a mirror that lacks messages: when-synced, always, never",
    ),
    "promote_on_failure": Fact(
        str,
        False,
        "whether a crash may promote a mirror that lacks messages: always, when-synced, never",
    ),
    "elects": Fact(bool, False, "if the master fails, a mirror can become master by itself"),
    "elects_by_majority": Fact(
        bool, False, "a majority of all replicas of a queue decides which one is its master"
    ),
    "detection_timeout_s": Fact(float, False, "the layout's detection timeout T, in seconds"),
    "route_poll_s": Fact(
        float, False, "how often clients ask name servers for the masters, in seconds"
    ),
    "confirms": Fact(bool, False, "publishers ask for confirms"),
    "confirm_waits_for_mirrors": Fact(
        bool, False, "a confirm waits until every available mirror has the message"
    ),
    "confirm_waits_for_majority": Fact(
        bool, False, "a confirm waits until a majority of all replicas has the message"
    ),
    "confirm_waits_for_disk": Fact(bool, False, "a confirm waits until the message is on disk"),
    "progress_kept_by": Fact(
        str, False, "who keeps a consumer's progress: brokers, or clients that read a log"
    ),
    "durable": Fact(bool, False, "queues survive their host's restart"),
    "persistent": Fact(bool, False, "messages survive their host's restart"),
    "mandatory": Fact(bool, False, "unroutable messages are returned"),
    "retry": Fact(str, False, "never or until_confirmed"),
    "consumers": Fact(float, False, "number of consumers; with 0 only the drain reads the queues"),
    "acknowledges": Fact(bool, False, "there are consumers, and they acknowledge deliveries"),
    "no_ack": Fact(bool, False, "there are consumers, and they acknowledge nothing"),
    "processing_s": Fact(
        float,
        False,
        "how long a consumer takes for each message before it acknowledges it, in seconds",
    ),
    "cancel_on_ha_failover": Fact(bool, False, "consumers request a notice of a new master"),
    "priorities": Fact(float, False, "levels of priority; 0: messages have no priorities"),
    "polls": Fact(bool, False, "consumers ask for each message (`basic.get`)"),
    "reconnect_s": Fact(
        float, False, "the longest time that a client may need to reconnect, in seconds"
    ),
    "messages": Fact(float, False, "messages that the scenario sends, if few are planned"),
    "delayed_messages": Fact(float, False, "delayed messages, if few are planned"),
    "messages_in_transactions": Fact(float, False, "messages in transactions, if few are planned"),
    "messages_to_commit": Fact(float, False, "messages to be committed, if few are planned"),
    "messages_to_check": Fact(
        float, False, "messages to commit when the broker checks, if few are planned"
    ),
    "checks_within_s": Fact(
        float, False, "within what time a broker checks an open transaction, in seconds"
    ),
    "faults": Fact(float, False, "fault windows of the schedule"),
    "operations": Fact(float, False, "operations of the schedule"),
}
OPERATED: dict[str, Fact] = {
    "all_stopped": Fact(str, False, "how operations stopped every host: in turn, at once, none"),
    "started_first": Fact(
        str,
        False,
        "which stopped host was started first: first stopped, last stopped, other, none",
    ),
    "started_within_s": Fact(
        float, False, "time from the first start of a stopped host to the last one, in seconds"
    ),
    "waited_for_last_s": Fact(
        float,
        False,
        "how long the host that was started first ran until the host that was stopped last was "
        "started, in seconds",
    ),
    "gave_up_waiting": Fact(
        bool, False, "the host that was started first had ended by itself by then"
    ),
    "lost_disk": Fact(str, False, "whose disk was lost: first stopped, last stopped, all, ..."),
    "node_removed": Fact(
        str, False, "how a node was removed from the cluster: online, offline, none"
    ),
    "stood_still_synchronising": Fact(
        bool, False, "during synchronisation a queue neither took nor delivered a message"
    ),
    "nodes_added": Fact(float, False, "spare nodes that joined the cluster"),
    "queues_have_masters": Fact(bool, False, "after all operations each queue had a master"),
    "mirrors_after_operations": Fact(
        float, False, "the smallest number of mirrors of a queue after all operations"
    ),
}
SEEN: dict[str, Fact] = {  # from raw rows (operated.py, routed.py)
    "left_to_drain": Fact(float, False, "deliveries that consumers left to the drain"),
    "clients_reached_another": Fact(
        bool,
        False,
        "every publisher whose link was the fault's target connected to another host meanwhile",
    ),
    "routes_served_meanwhile": Fact(
        bool,
        False,
        "during a fault of name servers the other ones returned every queue's route, without a "
        "gap of 5 s or more",
    ),
}
MOVED = "publishers_of_target_moved"
RECORDED: dict[str, Fact] = {
    "fault_kind": Fact(str, True, "the fault's kind: a name that `mqproof list faults` shows"),
    "fault_resource": Fact(str, True, "the resource of an alarm: memory or disk"),
    "fault_target_role": Fact(
        str, True, "the target was: master, mirror, name server, balancer, ..."
    ),
    "mirrors_at_fault": Fact(float, True, "mirrors of the target's queue when the fault began"),
    "synchronised_mirrors_at_fault": Fact(
        float, True, "synchronised mirrors of the target's queue when the fault began"
    ),
    "publishers_connected_to_target": Fact(
        bool, True, "the target is the host that publishers connect to first"
    ),
    "consumers_connected_to_target": Fact(
        bool, True, "the target is the host that consumers connect to first"
    ),
    "name_servers_at_target": Fact(float, True, "name servers that the fault targets"),
    "name_servers_left": Fact(float, True, "name servers that the fault does not target"),
    "publishers_attached_to_target": Fact(
        float, True, "publishers that used one of these name servers when the fault began"
    ),
    "fault_returned": Fact(bool, True, "the fault was undone and verified ended"),
    "promoted_mirror_rank": Fact(
        float, True, "rank by age of the mirror that became master; 1: the oldest"
    ),
    "consumers_cancelled": Fact(float, True, "consumers that received a cancellation"),
    "consumers_attached": Fact(
        float, True, "consumers of the target's queue that were connected to another host"
    ),
    "publishers_not_blocked": Fact(
        float, True, "connected publishers that got no notice that they are blocked"
    ),
    "synchronised_when_rejoined": Fact(
        bool, True, "the target was synchronised when it was first a mirror again"
    ),
    "held_when_rejoined": Fact(
        float, True, "how many messages of its queue the target reported then"
    ),
    "synchronised_at_last": Fact(
        bool, True, "the target was a synchronised mirror when the load ended"
    ),
    "clients_of_target_cut_off": Fact(
        bool, True, "every client that was connected to the target lost its connection"
    ),
    MOVED: Fact(
        bool,
        True,
        "every publisher that was connected to the target connected to another host before the "
        "undo",
    ),
    "rejoined_as": Fact(
        str, True, "the target's role for its queue at the end: master, mirror, none"
    ),
}
COUNTS: dict[str, Fact] = {
    "acknowledged": Fact(float, False, "messages that were confirmed"),
    **{each.name: Fact(float, False, each.claimed) for each in REGISTER if each.claimed},
}
# Promises that service is asked by (schema/service.py), and the facts that answer. Those that name
# a time have the declared timers that make it up.
SERVICE = {
    "available_during_fault": FAULT,
    "available_after_notice": "notice",
    "available_after_poll": "poll",
    "available_after_fault": HEALED,
}
TIMERS = {"notice": ("detection_timeout_s", "route_poll_s"), "poll": ("route_poll_s",)}
CONSUMPTION = "consumption_resumes"
STARVED = "consumer_wait_after_fault_s"
STEADY_STATE: dict[str, Fact] = {
    "unavailable_in_steady_state_s": Fact(
        float,
        False,
        "longest outage of the run, a queue or a publisher before any fault, after the load's "
        "first 10 s",
    ),
    "consumer_wait_in_steady_state_s": Fact(
        float,
        False,
        "longest time before any fault in which a queue (or queue of a log) delivered nothing, "
        "though something confirmed waited there for consumers",
    ),
}
NOTHING_BROKEN = (
    "faults",
    "operations",
)  # declared; claims that use them are about the steady state
WAITING, KEPT = "waiting_at_fault", "kept_when_rejoined"
REQUEUED = "redelivered"
STAGE_NAMES = tuple(
    each.reached.stage for each in REGISTER if each.reached is not None and each.of is None
)  # routes are separate: there may be no name server
FOUND: dict[str, Fact] = {
    "silence_s": Fact(float, True, "longest time without a confirm while something is due"),
    "missed": Fact(float, True, "publishes that were not confirmed within their deadline"),
    "degraded_s": Fact(
        float, True, "time from the fault until sending was on time for 5 s, in seconds"
    ),
    "available_during_fault": Fact(
        bool,
        True,
        "the run, every queue and every publisher were served from the time when sending was on "
        "time again until the undo",
    ),
    "available_after_notice": Fact(
        bool,
        True,
        "they were served from detection_timeout_s + route_poll_s after the fault on: by then "
        "clients know of a silent broker",
    ),
    "available_after_poll": Fact(
        bool, True, "they were served from route_poll_s after the fault on"
    ),
    "available_after_fault": Fact(
        bool,
        True,
        "they were served after all overlapping faults had ended and clients had had time to "
        "reconnect",
    ),
    CONSUMPTION: Fact(
        bool,
        True,
        "during the fault, every queue delivered and every consumer received messages that were "
        "sent after the fault began",
    ),
    STARVED: Fact(
        float,
        True,
        "longest time in which a queue delivered nothing although messages waited, after all "
        "overlapping faults had ended and clients had had time to reconnect",
    ),
    REQUEUED: Fact(
        bool,
        True,
        "an unacknowledged message was redelivered; false proves nothing",
    ),
    WAITING: Fact(
        float, True, "messages that were confirmed and not delivered when the fault began"
    ),
    KEPT: Fact(
        bool,
        True,
        "without consumers: the target, when it was first a mirror again, reported at least "
        "waiting_at_fault messages; false if it reported a tenth of them or fewer",
    ),
    **{stage: Fact(bool, True, f"the stage {stage} was reached") for stage in STAGE_NAMES},
    **{
        f"{stage}_s": Fact(float, True, f"time from the fault to the stage {stage}, in seconds")
        for stage in STAGE_NAMES
    },
}
FOLLOWING: dict[str, Fact] = {  # from others (derived.py)
    "keeps": Fact(
        bool,
        False,
        "no disk was lost, and no broker ended while queues or messages were transient",
    ),
    "queues_stay": Fact(
        bool, False, "no disk was lost, and no broker ended while queues were transient"
    ),
    "broker_ended": Fact(
        bool, True, "the fault ended its target's process, so its memory is lost"
    ),
    "page_cache_lost": Fact(
        bool, True, "the fault also discarded what was written and not synced to disk"
    ),
    "every_mirror_synchronised": Fact(
        bool, True, "every mirror was synchronised when the fault began"
    ),
    "every_mirror_read": Fact(
        bool, True, "every mirror at the fault became master later, and the run read it"
    ),
    "another_copy_took_over": Fact(
        bool,
        True,
        "another copy of the target's queue was seen as its master; unknown if none was seen",
    ),
    "attached_name_server_silent": Fact(
        bool, True, "a name server that publishers use was silent at the same time"
    ),
    "mirrors_gained": Fact(
        float,
        False,
        "how many mirrors a queue has after all operations beyond those of the layout",
    ),
    "consumers_not_notified": Fact(
        float, True, "consumers_attached that received no cancellation"
    ),
    "all_copies_at_fault": Fact(
        bool, True, "the queue had all copies of its layout: no node was down before"
    ),
    "majority_left": Fact(
        bool, True, "without the target, a majority of the layout's copies remained"
    ),
}
FACTS: dict[str, Fact] = {
    **DECLARED,
    **OPERATED,
    **SEEN,
    **RECORDED,
    **COUNTS,
    **STEADY_STATE,
    **FOUND,
    **FOLLOWING,
}


def fact(name: str) -> Fact | None:
    """The fact of that name; `count.detail` is a fact where `count` is a count."""
    head, dot, _ = name.partition(".")
    if dot:
        return COUNTS.get(head)
    return FACTS.get(name)
