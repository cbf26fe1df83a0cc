"""How evidence names facts: a sentence for counts (of their measure), a label for others.

1. A fact without a label is called by its meaning (plan/vocabulary.py).
2. `UNSURE` stands before the reason why a count is not certain, and nowhere else.
"""

import re

from harness.claims.claims import Condition
from harness.claims.values import Interval
from harness.plan.vocabulary import COUNTS, fact
from spark_analysis.schema import measures
from spark_analysis.schema.words import level_text

LABELS = {
    "copies": "copies of a queue in this layout",
    "masters": "masters that share a queue's messages",
    "synchronise": "synchronisation of new mirrors",
    "partition_handling": "partition handling",
    "mirrored_on": "policy of mirrors",
    "client_endpoint": "where clients connect",
    "promote_on_shutdown": "promotion of an unsynchronised mirror after a stop",
    "promote_on_failure": "promotion of an unsynchronised mirror after a crash",
    "elects": "a mirror can become master by itself",
    "elects_by_majority": "a majority of replicas elects the master",
    "detection_timeout_s": "detection timeout T (in s)",
    "route_poll_s": "time between two queries of a client to a name server (in s)",
    "confirms": "publishers ask for confirms",
    "durable": "queues are durable",
    "persistent": "messages are persistent",
    "mandatory": "unroutable messages are returned",
    "consumers": "consumers",
    "acknowledges": "consumers acknowledge deliveries",
    "no_ack": "consumers acknowledge nothing",
    "cancel_on_ha_failover": "consumers ask for a notice of a new master",
    "progress_kept_by": "a consumer's progress is kept by",
    "faults": "faults in the scenario",
    "operations": "operations in the scenario",
    "all_stopped": "how all hosts were stopped",
    "started_first": "the host that was started first was the",
    "started_within_s": "time from the first start of a stopped host to the last one",
    "waited_for_last_s": "time until the host that was stopped last was started",
    "lost_disk": "host whose disk was lost",
    "node_removed": "how a node was removed",
    "nodes_added": "nodes that joined the cluster",
    "queues_have_masters": "each queue had a master after all operations",
    "gave_up_waiting": "the host that was started first ended by itself while it waited",
    "stood_still_synchronising": "a queue stood still while it synchronised",
    "left_to_drain": "deliveries that consumers left to the drain",
    "clients_reached_another": "publishers whose link was affected reached another host",
    "routes_served_meanwhile": "the other name servers returned every route meanwhile",
    "fault_kind": "kind of fault",
    "fault_resource": "resource of the alarm",
    "fault_target_role": "target of the fault",
    "mirrors_at_fault": "mirrors of the queue when the fault began",
    "synchronised_mirrors_at_fault": "synchronised mirrors when the fault began",
    "publishers_connected_to_target": "publishers connect to the target first",
    "consumers_connected_to_target": "consumers connect to the target first",
    "name_servers_at_target": "name servers that the fault targets",
    "name_servers_left": "name servers that the fault leaves alone",
    "publishers_attached_to_target": "publishers that used the target name server",
    "fault_returned": "the fault was undone and verified ended",
    "promoted_mirror_rank": "rank by age of the mirror that became master (1: the oldest)",
    "publishers_not_blocked": "publishers without a notice that they are blocked",
    "consumers_not_notified": "consumers without a notice of the new master",
    "synchronised_when_rejoined": "the target was synchronised when it rejoined",
    "synchronised_at_last": "the target was a synchronised mirror when the load ended",
    "clients_of_target_cut_off": "all clients of the target lost their connection",
    "publishers_of_target_moved": "publishers of the target connected to another host",
    "rejoined_as": "role of the target at the end",
    "silence_s": "longest time without a confirm",
    "available_during_fault": "clients were served while the fault was active",
    "available_after_notice": "clients were served once they could know of the silent broker",
    "available_after_poll": "clients were served once they had polled the routes",
    "available_after_fault": "clients were served after the fault",
    "consumption_resumes": "consumers received new messages while the fault was active",
    "consumer_wait_after_fault_s": "longest wait of consumers after the fault",
    "consumer_wait_in_steady_state_s": "longest wait of consumers before any fault",
    "unavailable_in_steady_state_s": "longest outage before any fault",
    "redelivered": "an unacknowledged message was redelivered",
    "waiting_at_fault": "messages that waited in the queue when the fault began",
    "kept_when_rejoined": "the target kept its old copy of the queue when it rejoined",
    "keeps": "disks and durable data survived",
    "queues_stay": "disks and durable queues survived",
    "broker_ended": "the fault ended the broker's process",
    "page_cache_lost": "the fault discarded what was not yet synced to disk",
    "every_mirror_synchronised": "all mirrors were synchronised when the fault began",
    "every_mirror_read": "each mirror became master later and was read",
    "another_copy_took_over": "another copy of the queue took over",
    "attached_name_server_silent": "a name server that publishers use was silent, too",
    "mirrors_gained": "mirrors that a queue gained",
    "all_copies_at_fault": "the queue had all its copies when the fault began",
    "majority_left": "a majority of copies remained without the target",
}
UNSURE = "; uncertain, because "  # between what was counted and why that is not certain
NONE_ALLOWED = "; the claim allows none"

_NUMBER = re.compile(r"((?:at least )?[\d,]+(?: of [\d,]+)?)( × [\d,]+ groups)?")
_COMPARED = {
    "==": "",
    "!=": "anything but ",
    ">=": "at least ",
    "<=": "at most ",
    ">": "more than ",
    "<": "less than ",
}
YES_NO = {True: "yes", False: "no"}


def measured(condition: Condition, value: object) -> str:
    """Return a fact and its value: `428 of 2,299 confirmed messages were lost`, `consumers: 0`."""
    name, _, detail = condition.fact.partition(".")
    words = YES_NO[value] if isinstance(value, bool) else str(value)
    measure = measures.BY_NAME.get(name) if name in COUNTS else None
    number = _NUMBER.match(words) if isinstance(value, Interval) else None
    if measure is None or number is None:
        known = fact(condition.fact)
        label = LABELS.get(condition.fact) or (known.meaning if known else condition.fact)
        return f"{label}: {words}"
    text = measure.sentence(number[1], number[2] or "")
    text = f"{text} ({_detail_of(name, detail)})" if detail else text
    rest = words[number.end() :].strip()
    if not rest or rest.startswith("("):
        return f"{text} {rest}".rstrip()
    return f"{text} ({rest})"


def wanted(condition: Condition) -> str:
    """Return the values that a condition allows: `at least 1`, `kill, stop or freeze`; "" for yes
    and no."""
    if any(isinstance(one, bool) for one in condition.wanted):
        return ""
    unit = " s" if condition.fact.endswith("_s") else ""
    words = [f"{one:g}{unit}" if isinstance(one, float) else str(one) for one in condition.wanted]
    *others, last = words
    text = f"{', '.join(others)} or {last}" if others else last
    return f"{_COMPARED[condition.comparator]}{text}"


def needed_answer(condition: Condition) -> str:
    """Return the yes or no that a condition allows; "" if it allows other values."""
    wanted = condition.wanted[0]
    if not isinstance(wanted, bool):
        return ""
    return YES_NO[wanted is (condition.comparator == "==")]


def allows_none(condition: Condition) -> bool:
    """Return whether a condition says that a count must be 0."""
    name = condition.fact.partition(".")[0]
    return name in COUNTS and condition.comparator == "==" and condition.wanted == (0.0,)


def _detail_of(name: str, detail: str) -> str:
    """Return the detail of a measure in words: a title of the register, or a confirm level."""
    known = measures.detail(name, detail)
    return known.title if known is not None else f"confirmed {level_text(detail)}"
