"""What each of the other rules costs when it is switched off, message by message.

1. A story returns the messages that the missing rule costs. Without the rule they are found, and
   no others; with it none is.
2. A confirmed message is lost if its readers cannot get it any more. Every other cost leaves the
   confirmed messages readable:

   - CUT: a master takes a message after its time is over, and cuts it later. It was not confirmed.
   - LATE: a master confirms a message after its successor began. The successor has it.
   - REFUSED: a send fails that succeeds with the rule.
   - READ: a consumer gets a message that is cut later.
3. What brokers admit to have cut is exactly what they lost, or cut.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

import pytest

from reference_impl.rocketmq.settings import BrokerTimes
from tests.reference_impl.rocketmq.ctgmq.brokers import NAME_SERVERS
from tests.reference_impl.rocketmq.ctgmq.senders import ALONE, KEPT, LATER, Sender

ELECTED_LIMIT_MS = 30_000
SOON = [b"soon 0", b"soon 1"]


class Cost(Enum):
    LOST = "lost"
    CUT = "cut"
    LATE = "late"
    REFUSED = "refused"
    READ = "read"


class Story(NamedTuple):
    """`beside`: a rule that is off in both plays: it hides what the other one costs. `cuts`: a
    broker cuts these messages from its log, and admits it."""

    play: Callable[[Sender], list[bytes]]
    cost: Cost
    settings: Mapping[str, object] = MappingProxyType({})
    beside: str = ""
    cuts: bool = False


def quorum_lease(sender: Sender) -> list[bytes]:
    """A master and the control node that leads are cut off from all others."""
    control = sender.control
    others = [name for name in (*NAME_SERVERS, sender.new) if name != control]
    sender.cut_off(control, *others)
    sender.cut_off(sender.old, *others)
    sender.world.run(8_500)  # a lease is over after 7 s
    sender.send(sender.old, SOON[:1])
    sender.group.master(but=sender.old)
    sender.end()
    return SOON[:1]


def lease(sender: Sender) -> list[bytes]:
    sender.cut_off(sender.old, *NAME_SERVERS)
    while sender.new not in sender.group.masters():
        sender.world.run(50)
    sender.send(sender.old, SOON)
    sender.end()
    return SOON


def lease_on_ack(sender: Sender) -> list[bytes]:
    """A master stands still while a message waits for its slave."""
    number = sender.put(sender.old, b"waits")
    sender.world.freeze(sender.old)
    sender.group.master(but=sender.old)
    sender.world.thaw(sender.old)
    sender.settle(number, b"waits")
    sender.end()
    return [b"waits"]


def ack_epoch(sender: Sender) -> list[bytes]:
    """A slave is promoted, and its log is longer than that of the last master."""
    sender.cut_off(sender.old, *NAME_SERVERS)
    while sender.new not in sender.group.masters():
        sender.world.run(50)
    sender.send(sender.new, ALONE)
    sender.send(sender.old, SOON)
    sender.end()
    return SOON


def grace(sender: Sender) -> list[bytes]:
    """A new control node hears the slave before it hears the master, which lives."""
    sender.world.crash(sender.control)
    for name_server in NAME_SERVERS:
        sender.world.cut(sender.old, name_server)
    sender.world.run(12_000)
    sender.heal()
    sender.world.run(3_000)
    sender.send(sender.old, SOON)
    sender.end()
    return SOON


def handover(sender: Sender) -> list[bytes]:
    sender.world.call(sender.old, lambda server: server.stop())
    sender.world.run(20)
    sender.world.crash(sender.old)
    sender.world.run(3_000)
    sender.send(sender.new, SOON)
    sender.end()
    return SOON


def check_code(sender: Sender) -> list[bytes]:
    """Both brokers stop, and one comes back with an empty disk."""
    sender.world.crash(sender.old)
    sender.destroy(sender.new)
    sender.world.start(sender.new)
    sender.world.run(ELECTED_LIMIT_MS)
    sender.world.start(sender.old)
    sender.group.master()
    return KEPT


def join_caught_up(sender: Sender) -> list[bytes]:
    """A slave comes back, and its master dies before it has what it lacks."""
    sender.alone()
    sender.world.start(sender.new)
    sender.await_first_ack()
    sender.world.cut(sender.old, sender.new)
    sender.world.run(1_500)
    sender.world.crash(sender.old)
    sender.world.run(ELECTED_LIMIT_MS)
    sender.end()
    return ALONE


def out_behind(sender: Sender) -> list[bytes]:
    """The master's messages reach the slave, and its acknowledgements do not come back."""
    sender.world.cut(sender.new, sender.old)
    sender.send(sender.old, [b"first"])
    sender.world.run(20_000)
    del sender.refused[:]
    sender.send(sender.old, SOON)
    sender.end()
    return SOON


def hysteresis(sender: Sender) -> list[bytes]:
    """The network holds back what goes to the slave. Before it comes, the master's host is lost
    for good."""
    sender.world.cut(sender.old, sender.new)
    sender.send(sender.old, ALONE[:1])
    sender.destroy(sender.old)
    sender.world.run(ELECTED_LIMIT_MS)
    return ALONE[:1]


def min_in_sync(sender: Sender) -> list[bytes]:
    """A slave is away, and the master's host is lost for good."""
    sender.world.crash(sender.new)
    sender.world.run(9_000)
    sender.send(sender.old, SOON)
    sender.destroy(sender.old)
    sender.world.start(sender.new)
    sender.world.run(ELECTED_LIMIT_MS)
    return SOON


def fence_state(sender: Sender) -> list[bytes]:
    """A late answer makes a slave the master that it was. It cuts what no slave has acknowledged
    to it, and is elected before it has all of it again."""
    control = sender.control
    sender.world.cut(control, sender.old)  # an answer is on its way
    sender.world.run(1_500)
    sender.cut_off(control, *(one for one in NAME_SERVERS if one != control))
    sender.world.freeze(sender.old)
    sender.group.master(but=sender.old)
    sender.world.thaw(sender.old)
    sender.send(sender.group.whole(), ALONE)
    sender.world.heal(control, sender.old)
    for _ in range(2_000):  # a registration, and what it is answered
        if not sender.stored(sender.old):
            break
        sender.world.run(1)
    sender.world.crash(sender.new)
    sender.group.master(but=sender.new)
    return [*KEPT, *ALONE]


def boundary(sender: Sender) -> list[bytes]:
    """A slave has half of a message when its master dies. A batch ends anywhere."""
    sender.cut_off(sender.old, sender.new)
    sender.put(sender.old, b"half")
    log = sender.group.server(sender.new)._parts.commit_log
    source = sender.group.server(sender.old)._parts.commit_log
    log.append_copy(source.octets(log.end, 50))
    sender.world.crash(sender.old)
    sender.send(sender.group.master(but=sender.old), SOON)
    sender.end()
    return [*SOON, *LATER]


def read_confirmed(sender: Sender) -> list[bytes]:
    sender.cut_off(sender.old, sender.new)
    sender.put(sender.old, b"seen")
    sender.world.run(500)
    sender.consume(sender.old)
    sender.world.crash(sender.old)
    sender.group.master(but=sender.old)
    sender.end()
    return [b"seen"]


REGISTER_MS = 5_000
PATIENT = {"times": BrokerTimes(register_name_server_period=REGISTER_MS, slave_timeout=20_000)}
# By default no answer is heard that comes later than 6 s.
LATE_ANSWERS = BrokerTimes(
    register_name_server_period=REGISTER_MS, register_broker_timeout_mills=60_000
)
SLAVE_ACK = {"replica_truncation": "slave-ack", "times": LATE_ANSWERS}
STORIES: dict[str, Story] = {
    "quorum-lease": Story(quorum_lease, Cost.CUT, cuts=True),
    "lease": Story(lease, Cost.CUT, cuts=True),
    "lease-on-ack": Story(lease_on_ack, Cost.LATE, PATIENT),
    "ack-epoch": Story(ack_epoch, Cost.LOST, beside="lease", cuts=True),
    "grace": Story(grace, Cost.REFUSED),
    "handover": Story(handover, Cost.REFUSED),
    "fence-state": Story(fence_state, Cost.LOST, SLAVE_ACK, cuts=True),
    "check-code": Story(check_code, Cost.LOST),
    "join-caught-up": Story(join_caught_up, Cost.LOST, cuts=True),
    "out-behind": Story(out_behind, Cost.REFUSED),
    "hysteresis": Story(hysteresis, Cost.LOST),
    "min-in-sync": Story(min_in_sync, Cost.LOST, {"min_in_sync_replicas": 2}),
    "boundary": Story(boundary, Cost.LOST),
    "read-confirmed": Story(read_confirmed, Cost.READ, cuts=True),
}


class Played(NamedTuple):
    sender: Sender
    named: list[bytes]

    def found(self, cost: Cost) -> list[bytes]:
        sender = self.sender
        match cost:
            case Cost.LOST:
                return sender.lost()
            case Cost.CUT:
                there = sender.group.bodies(sender.group.master())
                return [body for body in sender.taken if body not in there]
            case Cost.LATE:
                return sender.late
            case Cost.REFUSED:
                return sender.refused
            case Cost.READ:
                there = sender.group.bodies(sender.group.master())
                return [body for body in sender.read if body not in there]


def play(rule: str, is_off: bool) -> Played:
    story = STORIES[rule]
    without = ",".join(filter(None, (story.beside, rule if is_off else "")))
    sender = Sender(without, **story.settings)
    return Played(sender, story.play(sender))


@pytest.mark.parametrize("rule", STORIES)
def test_each_missing_rule_costs_exactly_the_named_messages(rule: str) -> None:
    played, story = play(rule, is_off=True), STORIES[rule]
    sender, named = played
    assert named
    assert played.found(story.cost) == named
    assert sender.lost() == (named if story.cost is Cost.LOST else [])
    assert sender.group.admitted() == (named if story.cuts else [])


@pytest.mark.parametrize("rule", STORIES)
def test_with_the_rule_the_same_story_costs_nothing(rule: str) -> None:
    played = play(rule, is_off=False)
    assert played.sender.lost() == []
    assert not {*played.sender.group.admitted()} & {*played.sender.confirmed}
    assert played.found(STORIES[rule].cost) == []


def test_the_lease_hides_what_acknowledgements_of_another_epoch_cost() -> None:
    sender = Sender("ack-epoch")
    ack_epoch(sender)
    assert {*SOON} <= {*sender.refused}
    assert sender.lost() == []
