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
    """One of three nodes is down already when the master goes: the last mirror is left."""
    one_mirror = {"mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
    return Story(**{"partition_handling": "ignore", "operations": 1, **one_mirror, **state})


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
