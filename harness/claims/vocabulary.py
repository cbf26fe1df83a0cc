"""The facts that claims may speak of: name, type, what it means. `list facts` shows them.

1. Declared facts come from the plan, operated and recorded ones from the harness, found ones from
   the marts; what follows from others has a place of its own.
2. A fact `of a window` may differ between fault windows; a claim is then judged for each window.
3. `count.detail` narrows a count: `duplicated.stored_twice`, `lost.replicated`.
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
        str, False, "by what clients enter: hosts, one, haproxy, haproxy-pair, balancer"
    ),
    "promote_on_shutdown": Fact(
        str,
        False,
        "whether a stop may promote a mirror that lacks messages: when-synced, always, never",
    ),
    "promote_on_failure": Fact(str, False, "whether a crash may: always, when-synced, never"),
    "elects": Fact(bool, False, "a mirror may become master by itself, when the master fails"),
    "elects_by_majority": Fact(
        bool, False, "a majority of all that hold a queue decides who is its master"
    ),
    "detection_timeout_s": Fact(float, False, "the layout's timer, in seconds"),
    "route_poll_s": Fact(float, False, "how often clients ask name servers who the masters are"),
    "confirms": Fact(bool, False, "publishers ask for confirms"),
    "confirm_waits_for_mirrors": Fact(
        bool, False, "by the layout, until every mirror that is there has a message"
    ),
    "confirm_waits_for_majority": Fact(
        bool, False, "by the layout, until a majority of all that hold the queue has it"
    ),
    "confirm_waits_for_disk": Fact(bool, False, "by the layout, until it is on disk"),
    "progress_kept_by": Fact(
        str, False, "who knows how far a consumer has come: brokers, or clients, which read a log"
    ),
    "durable": Fact(bool, False, "queues survive their host's restart"),
    "persistent": Fact(bool, False, "messages do"),
    "mandatory": Fact(bool, False, "unroutable messages are returned"),
    "retry": Fact(str, False, "never or until_confirmed"),
    "consumers": Fact(float, False, "consumers; with none the queues are read by the drain alone"),
    "acknowledges": Fact(bool, False, "there are consumers, and they acknowledge what they got"),
    "no_ack": Fact(bool, False, "there are consumers, and they acknowledge nothing"),
    "cancel_on_ha_failover": Fact(bool, False, "consumers asked for a notice of a new master"),
    "priorities": Fact(float, False, "levels of priority of messages; 0: they have none"),
    "polls": Fact(bool, False, "consumers ask for each message (`basic.get`)"),
    "reconnect_s": Fact(float, False, "how long a client may take to be back after a fault"),
    "messages": Fact(float, False, "messages that the scenario sends, if it means to send few"),
    "delayed_messages": Fact(float, False, "delayed messages, if the scenario means to send few"),
    "messages_in_transactions": Fact(float, False, "messages in transactions, if few are planned"),
    "messages_to_commit": Fact(float, False, "messages to be committed, if few are planned"),
    "messages_to_check": Fact(float, False, "messages to commit when the broker checks, if few"),
    "checks_within_s": Fact(
        float, False, "how long a broker may take to ask about a transaction that was left open"
    ),
    "faults": Fact(float, False, "fault windows of the schedule"),
    "operations": Fact(float, False, "operations of the schedule"),
}
OPERATED: dict[str, Fact] = {
    "all_stopped": Fact(str, False, "how operations stopped every host: in turn, at once, none"),
    "started_first": Fact(
        str, False, "which was started first then: first stopped, last stopped, other, none"
    ),
    "started_within_s": Fact(
        float, False, "how long it took from the first one's start until the last one's"
    ),
    "waited_for_last_s": Fact(
        float, False, "how long the first one ran before the last stopped one was started"
    ),
    "gave_up_waiting": Fact(bool, False, "it had ended by itself by then"),
    "lost_disk": Fact(str, False, "whose disk was lost: first stopped, last stopped, all, ..."),
    "node_removed": Fact(
        str, False, "how a node was struck from the cluster: online, offline, none"
    ),
    "stood_still_synchronising": Fact(
        bool, False, "while it was synchronised nothing came into a queue, nor out of it"
    ),
    "nodes_added": Fact(float, False, "spare nodes that joined the cluster"),
    "queues_have_masters": Fact(bool, False, "after all operations each queue had a master"),
    "mirrors_after_operations": Fact(float, False, "the least number of mirrors of a queue then"),
}
SEEN: dict[str, Fact] = {  # from raw rows (operated.py, routed.py)
    "left_to_drain": Fact(float, False, "deliveries that consumers left to the drain"),
    "clients_reached_another": Fact(
        bool,
        False,
        "every publisher whose link to a host was struck was connected to another host meanwhile",
    ),
    "routes_served_meanwhile": Fact(
        bool,
        False,
        "while name servers were struck those that were left told every queue's route, never "
        "5 s or more without",
    ),
}
RECORDED: dict[str, Fact] = {
    "fault_kind": Fact(str, True, "its kind: a name that `list faults` shows"),
    "fault_resource": Fact(str, True, "of an alarm: memory or disk"),
    "fault_target_role": Fact(
        str, True, "the target was: master, mirror, name server, balancer, ..."
    ),
    "mirrors_at_fault": Fact(float, True, "mirrors of the target's queue when the fault came"),
    "synchronised_mirrors_at_fault": Fact(float, True, "those of them that held everything"),
    "publishers_connected_to_target": Fact(bool, True, "publishers were connected to the target"),
    "consumers_connected_to_target": Fact(bool, True, "consumers were"),
    "name_servers_at_target": Fact(float, True, "name servers that the fault struck"),
    "name_servers_left": Fact(float, True, "name servers that it left alone"),
    "publishers_attached_to_target": Fact(
        float, True, "publishers that asked one of these when the fault came"
    ),
    "fault_returned": Fact(bool, True, "the fault was undone and seen to be gone"),
    "promoted_mirror_rank": Fact(float, True, "age of the mirror that became master; 1: oldest"),
    "consumers_cancelled": Fact(float, True, "consumers that got a notice of cancellation"),
    "consumers_attached": Fact(
        float, True, "consumers of the target's queue that were connected to another host"
    ),
    "publishers_not_blocked": Fact(
        float, True, "publishers that were connected, and were not told that they are blocked"
    ),
    "synchronised_when_rejoined": Fact(
        bool, True, "the target held everything when it was first seen as a mirror again"
    ),
    "held_when_rejoined": Fact(
        float, True, "how many messages of its queue it held then, by its own word"
    ),
    "synchronised_at_last": Fact(bool, True, "as a mirror it did when the load was over"),
    "clients_of_target_cut_off": Fact(
        bool, True, "every client that was connected to the target lost its connection"
    ),
    "rejoined_as": Fact(
        str, True, "what the target was to its queue in the end: master, mirror, none"
    ),
}
COUNTS: dict[str, Fact] = {
    "acknowledged": Fact(float, False, "messages that were confirmed"),
    **{each.name: Fact(float, False, each.claimed) for each in REGISTER if each.claimed},
}
# Promises that service is asked by (schema/service.py), and the facts that answer. Those that name
# a time have the declared timers that make it up.
SERVICE = {
    "serves_on": FAULT,
    "serves_after_notice": "notice",
    "serves_after_poll": "poll",
    "served_once_healed": HEALED,
}
TIMERS = {"notice": ("detection_timeout_s", "route_poll_s"), "poll": ("route_poll_s",)}
CONSUMPTION = "consumption_resumes"
STARVED = "starved_once_healed_s"
STEADY_STATE: dict[str, Fact] = {
    "unavailable_in_steady_state_s": Fact(
        float,
        False,
        "longest outage of the run, a queue or a publisher before any fault, after the load's "
        "first 10 s",
    ),
    "starved_in_steady_state_s": Fact(
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
REQUEUED = "given_out_again"
STAGE_NAMES = tuple(
    each.reached.stage for each in REGISTER if each.reached is not None and each.of is None
)  # routes are separate: there may be no name server
FOUND: dict[str, Fact] = {
    "silence_s": Fact(float, True, "longest time without a confirm while something is due"),
    "missed": Fact(float, True, "intended publishes not confirmed within their deadline"),
    "degraded_s": Fact(float, True, "from the fault to sustained success"),
    "serves_on": Fact(
        bool,
        True,
        "from sustained success on, or from the fault where there was none, until the fault's end "
        "the run, every queue and every publisher were served",
    ),
    "serves_after_notice": Fact(
        bool,
        True,
        "they were from detection_timeout_s + route_poll_s on, when clients know of a silent "
        "broker",
    ),
    "serves_after_poll": Fact(bool, True, "they were from route_poll_s on"),
    "served_once_healed": Fact(
        bool,
        True,
        "they were when the fault, and every one in force with it, was gone, and clients had had "
        "time to come back",
    ),
    CONSUMPTION: Fact(
        bool, True, "every queue and every consumer got something that was sent after the fault"
    ),
    STARVED: Fact(
        float,
        True,
        "longest time in which a queue delivered nothing, though messages waited, when the fault "
        "and every one in force with it, was gone, and clients had had time to come back",
    ),
    REQUEUED: Fact(
        bool,
        True,
        "an unacknowledged message was redelivered. Absence proves nothing",
    ),
    WAITING: Fact(float, True, "messages that were confirmed and not delivered when it came"),
    KEPT: Fact(
        bool,
        True,
        "where no consumer was connected: the target, when it was first seen as a mirror again, "
        "held at least all of those by its own word; not, if it held a tenth at most",
    ),
    **{stage: Fact(bool, True, f"the stage {stage} was reached") for stage in STAGE_NAMES},
    **{f"{stage}_s": Fact(float, True, f"from the fault to {stage}") for stage in STAGE_NAMES},
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
    "broker_ended": Fact(bool, True, "the fault ended what it struck: its memory is gone"),
    "page_cache_lost": Fact(bool, True, "the fault took what was written and not synced, too"),
    "every_mirror_synchronised": Fact(bool, True, "every mirror at the fault held everything"),
    "every_mirror_read": Fact(bool, True, "every mirror at the fault was master later, and read"),
    "attached_name_server_silent": Fact(
        bool, True, "a name server that publishers asked was silent at the same time"
    ),
    "mirrors_gained": Fact(
        float, False, "mirrors that a queue has after all operations, beyond its own"
    ),
    "consumers_not_notified": Fact(
        float, True, "of those that were attached how many got no notice of cancellation"
    ),
    "whole_at_fault": Fact(
        bool, True, "the queue had all copies that its layout wants: no node was down before"
    ),
    "majority_left": Fact(
        bool, True, "without the target a majority of the copies that the layout wants was left"
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
