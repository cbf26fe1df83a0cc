"""The facts that claims may speak of: name, type, label, what it means. `list facts` shows them.

1. Declared facts come from the plan, operated and recorded ones from the harness, found ones from
   the marts; what follows from others has a place of its own.
2. A fact `of a window` may differ between fault windows; a claim is then judged for each window.
3. `count.detail` narrows a count: `duplicated.stored_twice`, `lost.replicated`.
4. Packages bring facts of their own (brought_facts.py, harness/judging/known_facts.py).
"""

from faults.kinds import KINDS
from harness.plan.facts import DECLARED, OPERATED, Fact
from harness.plan.layouts.layout_values import BALANCER, STANDBY
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.service import FAULT, HEALED

SEEN: dict[str, Fact] = {  # from raw rows (operated.py, routed.py)
    "left_to_drain": Fact(float, False, "deliveries that consumers left to the drain"),
    "clients_reached_another": Fact(
        bool,
        False,
        "publishers whose link was affected reached another host",
        "every publisher whose link was the fault's target connected to another host meanwhile",
    ),
    "routes_served_meanwhile": Fact(
        bool,
        False,
        "the other name servers returned every route meanwhile",
        "during a fault of name servers the other ones returned every queue's route, without a "
        "gap of 5 s or more",
    ),
}
MOVED = "publishers_of_target_moved"
RECORDED: dict[str, Fact] = {
    "fault_kind": Fact(
        str,
        True,
        "kind of fault",
        "the fault's kind: a name that `mqproof list faults` shows",
        tuple(KINDS),
    ),
    "fault_resource": Fact(
        str,
        True,
        "resource of the alarm",
        "the resource of an alarm: memory or disk",
        ("memory", "disk"),
    ),
    "fault_target_role": Fact(
        str,
        True,
        "target of the fault",
        "the target was: master, mirror, name server, balancer, standby balancer, none",
        ("master", "mirror", "name server", BALANCER, STANDBY, "none"),
    ),
    "mirrors_at_fault": Fact(
        float,
        True,
        "mirrors of the queue when the fault began",
        "mirrors of the target's queue when the fault began",
    ),
    "synchronised_mirrors_at_fault": Fact(
        float,
        True,
        "synchronised mirrors when the fault began",
        "synchronised mirrors of the target's queue when the fault began",
    ),
    "publishers_connected_to_target": Fact(
        bool,
        True,
        "publishers connect to the target first",
        "the target is the host that publishers connect to first",
    ),
    "consumers_connected_to_target": Fact(
        bool,
        True,
        "consumers connect to the target first",
        "the target is the host that consumers connect to first",
    ),
    "name_servers_at_target": Fact(float, True, "name servers that the fault targets"),
    "name_servers_left": Fact(
        float,
        True,
        "name servers that the fault leaves alone",
        "name servers that the fault does not target",
    ),
    "publishers_attached_to_target": Fact(
        float,
        True,
        "publishers that used the target name server",
        "publishers that used one of these name servers when the fault began",
    ),
    "fault_returned": Fact(bool, True, "the fault was undone and verified ended"),
    "promoted_mirror_rank": Fact(
        float,
        True,
        "rank by age of the mirror that became master (1: the oldest)",
        "rank by age of the mirror that became master; 1: the oldest",
    ),
    "consumers_cancelled": Fact(float, True, "consumers that received a cancellation"),
    "consumers_attached": Fact(
        float, True, "consumers of the target's queue that were connected to another host"
    ),
    "publishers_not_blocked": Fact(
        float,
        True,
        "publishers without a notice that they are blocked",
        "connected publishers that got no notice that they are blocked",
    ),
    "synchronised_when_rejoined": Fact(
        bool,
        True,
        "the target was synchronised when it rejoined",
        "the target was synchronised when it was first a mirror again",
    ),
    "held_when_rejoined": Fact(
        float, True, "how many messages of its queue the target reported then"
    ),
    "synchronised_at_last": Fact(
        bool, True, "the target was a synchronised mirror when the load ended"
    ),
    "clients_of_target_cut_off": Fact(
        bool,
        True,
        "all clients of the target lost their connection",
        "every client that was connected to the target lost its connection",
    ),
    MOVED: Fact(
        bool,
        True,
        "publishers of the target connected to another host",
        "every publisher that was connected to the target connected to another host before the "
        "undo",
    ),
    "rejoined_as": Fact(
        str,
        True,
        "role of the target at the end",
        "the target's role for its queue at the end: master, mirror, none",
        ("master", "mirror", "none"),
    ),
}
COUNTS: dict[str, Fact] = {
    "acknowledged": Fact(float, False, "messages that were confirmed"),
    **{each.name: Fact(float, False, each.claimed) for each in REGISTER if each.claimed},
}
# Promises that service is asked by (schema/service.py), and the facts that answer. Those that name
# a time have the declared timers that make it up.
OTHERS_SERVED = "other_publishers_served"
SERVICE = {
    OTHERS_SERVED: FAULT,
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
        "longest outage before any fault",
        "longest outage of the run, a queue or a publisher before any fault, after the load's "
        "first 10 s",
    ),
    "consumer_wait_in_steady_state_s": Fact(
        float,
        False,
        "longest wait of consumers before any fault",
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
    "silence_s": Fact(
        float,
        True,
        "longest time without a confirm",
        "longest time without a confirm while something is due, of the queue where it is "
        "longest; it overlaps the time from the fault until sending was on time and the fault had "
        "ended",
    ),
    "missed": Fact(
        float,
        True,
        "publishes that were not confirmed within their deadline",
        "publishes of the whole run that were not confirmed within their deadline",
    ),
    "degraded_s": Fact(
        float,
        True,
        "time from the fault until sending was on time for 5 s",
        "time from the fault until sending of all queues together was on time for 5 s; the same "
        "as sustained_success_s",
    ),
    "available_during_fault": Fact(
        bool,
        True,
        "clients were served while the fault was active",
        "the run, every queue and every publisher were served from the time when sending was on "
        "time again until the undo",
    ),
    "available_after_notice": Fact(
        bool,
        True,
        "clients were served once they could know of the silent broker",
        "the run, every queue and every publisher were served from detection_timeout_s + "
        "route_poll_s after the fault on: by then clients know of a silent broker",
    ),
    "available_after_poll": Fact(
        bool,
        True,
        "clients were served once they had polled the routes",
        "the run, every queue and every publisher were served from route_poll_s on after the "
        "fault",
    ),
    "available_after_fault": Fact(
        bool,
        True,
        "clients were served after the fault",
        "the run, every queue and every publisher were served after all overlapping faults had "
        "ended and clients had had time to reconnect",
    ),
    OTHERS_SERVED: Fact(
        bool,
        True,
        "publishers that the fault spared were served meanwhile",
        "every publisher that a fault of clients spared was served until its undo, without an "
        "outage",
    ),
    CONSUMPTION: Fact(
        bool,
        True,
        "consumers received new messages while the fault was active",
        "during the fault, every queue delivered and every consumer received messages that were "
        "sent after the fault began",
    ),
    STARVED: Fact(
        float,
        True,
        "longest wait of consumers after the fault",
        "longest time in which a queue delivered nothing although messages waited, after all "
        "overlapping faults had ended and clients had had time to reconnect",
    ),
    REQUEUED: Fact(
        bool,
        True,
        "an unacknowledged message was redelivered",
        "an unacknowledged message was redelivered; false proves nothing",
    ),
    WAITING: Fact(
        float,
        True,
        "messages that waited in the queue when the fault began",
        "messages that were confirmed and not delivered when the fault began",
    ),
    KEPT: Fact(
        bool,
        True,
        "the target kept its old copy of the queue when it rejoined",
        "without consumers: the target, when it was first a mirror again, reported at least "
        "waiting_at_fault messages; false if it reported a tenth of them or fewer",
    ),
    **{stage: Fact(bool, True, f"the stage {stage} was reached") for stage in STAGE_NAMES},
    **{
        f"{stage}_s": Fact(
            float,
            True,
            f"time from the fault to the stage {stage}",
            f"time from the fault to the stage {stage} of the whole run",
        )
        for stage in STAGE_NAMES
    },
}
FOLLOWING: dict[str, Fact] = {  # from others (derived.py)
    "keeps": Fact(
        bool,
        False,
        "disks and durable data survived",
        "no disk was lost, and no broker ended while queues or messages were transient",
    ),
    "queues_stay": Fact(
        bool,
        False,
        "disks and durable queues survived",
        "no disk was lost, and no broker ended while queues were transient",
    ),
    "broker_ended": Fact(
        bool,
        True,
        "the fault ended the broker's process",
        "the fault ended its target's process, so its memory is lost",
    ),
    "page_cache_lost": Fact(
        bool,
        True,
        "the fault discarded what was not yet synced to disk",
        "the fault also discarded what was written and not synced to disk",
    ),
    "publishers_left": Fact(
        float,
        True,
        "publishers that the fault of clients spared",
        "publishers that were there while the fault stopped or ended other clients",
    ),
    "every_mirror_synchronised": Fact(
        bool,
        True,
        "all mirrors were synchronised when the fault began",
        "every mirror was synchronised when the fault began",
    ),
    "every_mirror_read": Fact(
        bool,
        True,
        "each mirror became master later and was read",
        "every mirror at the fault became master later, and the run read it",
    ),
    "another_copy_took_over": Fact(
        bool,
        True,
        "another copy of the queue took over",
        "another copy was seen as master of each queue that the target led; else unknown",
    ),
    "attached_name_server_silent": Fact(
        bool,
        True,
        "a name server that publishers use was silent, too",
        "a name server that publishers use was silent at the same time",
    ),
    "mirrors_gained": Fact(
        float,
        False,
        "mirrors that a queue gained",
        "how many mirrors a queue has after all operations beyond those of the layout",
    ),
    "consumers_not_notified": Fact(
        float,
        True,
        "consumers without a notice of the new master",
        "consumers_attached that received no cancellation",
    ),
    "all_copies_at_fault": Fact(
        bool,
        True,
        "the queue had all its copies when the fault began",
        "the queue had all copies of its layout: no node was down before",
    ),
    "majority_left": Fact(
        bool,
        True,
        "a majority of copies remained without the target",
        "without the target, a majority of the layout's copies remained",
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
