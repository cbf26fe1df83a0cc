"""For each shipped claim three stories: it holds, it is refuted, and it is not judged.

1. An entry is (holds, refuted, not judged); of a claim about some cases the second is one without
   an example, which refutes nothing.
2. The third is what the claim's source excepts, or what no client could have seen.
3. Stories are built again for each test: a Story keeps its state.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from harness.claims.judge import ClaimOutcome
from spark_analysis.schema.facts import Absence, Worker
from tests.rigs.runs.findings import OF_LOGS, Story

MakeStory = Callable[[], Story]
Why = tuple[ClaimOutcome, str]  # and what the verdict says of it


class Three(NamedTuple):
    holds: MakeStory
    refuted: MakeStory
    not_judged: MakeStory
    why: Why


NO_ACK = {"acknowledges": False, "no_ack": True}
NO_CONSUMERS = {"consumers": 0, "acknowledges": False, "no_ack": False}
EMPTY = {"synchronised_mirrors_at_fault": 0}
ALONE = {"copies": 1, "mirrors_at_fault": 0, **EMPTY}
ONE_MIRROR = {"mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
LIVELY = {**OF_LOGS, "name_servers_at_target": 0, "publishers_attached_to_target": 0}
SINGLE = {**OF_LOGS, "masters": 1}
OF_NAME_SERVER = {**OF_LOGS, "fault_target_role": "name server", "routes_served_meanwhile": True}
OF_ALL_NAME_SERVERS = {**OF_NAME_SERVER, "name_servers_left": 0}
ALWAYS = {**EMPTY, "promote_on_shutdown": "always", "mirrored_on": "exactly"}
AWAY = {"fault_target_role": "mirror", "publishers_connected_to_target": False}
ADDED = {"operations": 1, "nodes_added": 1, "lost_disk": "none", "node_removed": "none"}
PAIR = {"client_endpoint": "haproxy-pair", "fault_target_role": "balancer"}
BALANCED = {"client_endpoint": "haproxy"}


def story_of(kind: str = "kill", **state: object) -> Story:
    return Story(kind, **state)


def out(kind: str = "kill", promise: str = "fault", **state: object) -> Story:
    """The run was out, and the fault's end ended that."""
    return Story(kind, **state).service("out", promise=promise, ended="undo")


def lost(number: int = 3, kind: str = "kill", **state: object) -> Story:
    return Story(kind, **state).count("lost", "replicated", number)


def requeued() -> Story:
    """What was unacknowledged when the master died came again."""
    return Story().count("duplicated", "redelivery", 30)


def not_redelivered() -> Story:
    return Story().count("not_redelivered", "", 1)


def denied(number: int = 3) -> Story:
    return Story().count("denied", "returned", number)


def attached(consumers: int, cancelled: int) -> Story:
    """So many consumers of the queue were connected elsewhere, and so many got a notice."""
    return Story(
        cancel_on_ha_failover=True, consumers_attached=consumers, consumers_cancelled=cancelled
    )


def delayed() -> Story:
    return Story().count("delayed", "", 700).count("could_show", "early", 700).steady()


def calmly(**state: object) -> Story:
    return Story(**{"faults": 0, **state}).steady()  # type: ignore[arg-type]


def served_in_steady_state(**state: object) -> Story:
    """A minute without a fault: 200 a second, all in time, and given out at once."""
    story = calmly(**state).starved(0.1)
    for second in range(60):
        story.second(second, confirmed=200, delivered=200)
    return story


def delayed_in_steady_state(late: int = 0, starved_s: float = 0.1) -> Story:
    """So many of 700 came too late; for so long no consumer was given anything at all."""
    story = calmly().count("delayed", "", 700).starved(starved_s)
    story.count("could_show", "overdue", 700)
    return story.count("overdue", "", late) if late else story


def in_transactions(fate: str) -> Story:
    story = Story().count("transactions", fate, 500)
    shown = "torn_transaction" if fate == "commit" else "rolled_back_but_delivered"
    return story.count("could_show", shown, 500)


def left_open(within_s: float | None = 70) -> Story:
    """Transactions that the broker has to ask about, within so long where anybody says it."""
    story = Story(**OF_LOGS).count("transactions", "commit_when_checked", 150)
    story.count("could_show", "unchecked", 150)
    within_ns = None if within_s is None else round(within_s * 1e9)
    story.facts = replace(story.facts, checks_within_ns=within_ns)
    return story


def unread() -> Story:
    """A consumer died, and its last deliveries are unknown."""
    return Story().doubt("loss", "consumer_log", worker=7)


def recovered(**state: object) -> Story:
    """Every host was stopped in turn and started again, the last one first; no consumer ran."""
    usual: dict[str, object] = {
        **NO_CONSUMERS,
        "operations": 5,
        "all_stopped": "in turn",
        "started_first": "last stopped",
        "started_within_s": 9.0,
        "waited_for_last_s": 0.0,
        "gave_up_waiting": {"not_applicable": "no host was started before it"},
        "lost_disk": "none",
        "node_removed": "none",
        "queues_have_masters": True,
        "mirrors_after_operations": 2,
    }
    return calmly(**(usual | state))


def waited(seconds: float, gave_up: bool = False) -> Story:
    """The host that was stopped first was started first, so long before the one stopped last."""
    return recovered(
        started_first="first stopped", waited_for_last_s=seconds, gave_up_waiting=gave_up
    )


def joined(mirrors: int, **state: object) -> Story:
    """A spare node joined, and so many mirrors a queue has at least: it had two."""
    return calmly(
        **{**ADDED, **state},
        mirrors_after_operations=mirrors,
    )


def caught_up(at_last: bool = True, **state: object) -> Story:
    """A mirror came back to a queue that was long, and was read empty after that."""
    usual: dict[str, object] = {
        **AWAY,
        "synchronise": "manual",
        "synchronised_when_rejoined": False,
        "left_to_drain": 0,
    }
    return Story(**{**usual, **state, "synchronised_at_last": at_last})


def alarmed(not_blocked: int = 0, **state: object) -> Story:
    """A mirror's host ran short of memory; so many publishers were not told."""
    usual = {"fault_target_role": "mirror", "fault_resource": "memory"}
    return Story("alarm", **{**usual, **state, "publishers_not_blocked": not_blocked})


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
    return story_of("stop", **{**EMPTY, "promote_on_shutdown": "when-synced", **state})


def reordered(number: int) -> Story:
    return Story(**OF_LOGS).count("reordered", "", number)


def delaying(late: int) -> Story:
    """Of the messages that waited when a master died so many came later than they were due."""
    story = Story(**OF_LOGS).count("delayed", "", 700).count("could_show", "overdue", 700)
    return story.count("overdue", "", late)


def unpromised_order(**state: object) -> Story:
    story = Story(**state).without("in_order")
    return story.count("not_judged", "not_promised", 21_400)


def unconfirmed(number: int = 0, **state: object) -> Story:
    story = Story(confirms=False, **state).count("state", "acknowledged", 0)
    story.count("state", "indeterminate", 21_400).count("lost_indeterminate", "", number)
    story.facts = replace(story.facts, confirms=False)
    return story


def rejoined(held: int, waiting: int = 2_000, **state: object) -> Story:
    """A queue without consumers, in which `waiting` messages lay.

    The node that had been cut off reported `held` when it was first seen as a mirror again.
    """
    usual = {**NO_CONSUMERS, "synchronise": "manual", "held_when_rejoined": held}
    return Story("partition", **{**usual, **state}).second(5, confirmed=waiting)


def linked(kind: str = "hang", moved: bool = True) -> Story:
    """Clients' links to a host were struck; they came to another one meanwhile, or waited."""
    return Story(kind, fault_target_role="none", clients_reached_another=moved)


def without_client(others: tuple[int, ...] = (2,)) -> Story:
    """Publisher 1 stood still, and the others were served."""
    story = Story("client_freeze", fault_target_role="none")
    publishers = [Worker(number, "publisher", True) for number in (1, *others)]
    story.facts = replace(
        story.facts,
        workers=(*publishers, Worker(7, "consumer", True)),
        absences=(Absence(1, 12_000_000_000, 27_000_000_000),),
    )
    for number in others:
        story.service("served", scope="publisher", name=str(number))
    return story


def dark(number: int = 0, **state: object) -> Story:
    """The host of the only copy lost its power, and with it what was not yet on disk."""
    return Story("power_loss", **{**ALONE, **state}).count("lost", "replicated", number)
