"""Queues of several masters, and clients that ask name servers."""

from tests.harness.claims.claim_stories import (
    LIVELY,
    OF_ALL_NAME_SERVERS,
    OF_NAME_SERVER,
    SINGLE,
    Three,
    delaying,
    joint_hang,
    out,
    reordered,
    story_of,
    unpromised_order,
)
from tests.harness.claims.judging import NOT_APPLICABLE
from tests.rigs.runs.findings import OF_LOGS

STORIES: dict[str, Three] = {
    "other-masters-take-over": Three(
        lambda: story_of(**OF_LOGS),
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
    "dead-master-delays-messages": Three(
        lambda: delaying(3),
        lambda: delaying(0),
        lambda: story_of(**OF_LOGS).count("overdue", "", 3),
        (NOT_APPLICABLE, "no message was delayed"),
    ),
    "single-master-is-down": Three(
        lambda: out(**SINGLE),
        lambda: story_of(**SINGLE),
        lambda: story_of(**SINGLE, operations=1),
        (NOT_APPLICABLE, "operations == 0"),
    ),
    "broken-links-are-noticed-soon": Three(
        lambda: story_of(**OF_LOGS),
        lambda: out(promise="poll", **OF_LOGS),
        lambda: out("freeze", promise="poll", **OF_LOGS),
        (NOT_APPLICABLE, "fault_kind == kill | stop"),
    ),
    "silent-broker-is-noticed-in-time": Three(
        lambda: story_of("freeze", **LIVELY),
        lambda: out("freeze", promise="notice", **LIVELY),
        lambda: out("freeze", promise="notice", **OF_LOGS),
        (NOT_APPLICABLE, "attached_name_server_silent == false"),
    ),
    "silent-name-server-hides-failures": Three(
        lambda: out("freeze", **OF_LOGS),
        lambda: story_of("freeze", **OF_LOGS),
        lambda: story_of("freeze", **{**OF_LOGS, "publishers_attached_to_target": 0}),
        (NOT_APPLICABLE, "publishers_attached_to_target >= 1"),
    ),
    "separate-name-servers-help": Three(
        lambda: story_of("freeze", **LIVELY),
        lambda: out("freeze", promise="notice", **LIVELY),
        lambda: joint_hang().service("out", promise="notice"),
        (NOT_APPLICABLE, "attached_name_server_silent == false"),
    ),
    "separate-hosts-may-fall-silent-too": Three(
        lambda: joint_hang().service("out", ended="undo"),
        joint_hang,
        lambda: joint_hang(attached=0),
        (NOT_APPLICABLE, "attached_name_server_silent == true"),
    ),
    "one-name-server-is-enough": Three(
        lambda: story_of(**OF_NAME_SERVER),
        lambda: story_of(**{**OF_NAME_SERVER, "routes_served_meanwhile": False}),
        lambda: out(**OF_ALL_NAME_SERVERS),
        (NOT_APPLICABLE, "name_servers_left >= 1"),
    ),
    "clients-go-on-without-name-servers": Three(
        lambda: story_of(**OF_ALL_NAME_SERVERS),
        lambda: story_of(**OF_ALL_NAME_SERVERS).silent_consumer(),
        lambda: story_of(**{**OF_ALL_NAME_SERVERS, "faults": 2}).silent_consumer(),
        (NOT_APPLICABLE, "faults == 1"),
    ),
    "old-routes-work-on": Three(
        lambda: story_of("freeze", **OF_NAME_SERVER),
        lambda: story_of("freeze", **OF_NAME_SERVER).silent_consumer(),
        lambda: out("freeze", **{**OF_NAME_SERVER, "faults": 2}),  # the broker may be down, too
        (NOT_APPLICABLE, "faults == 1"),
    ),
}
