"""Brokers without one of their rules admit exactly the confirmed messages that this costs.

Each story confirms messages, and ends with a master that serves and a slave that follows it.
`lost` is what a client took for sent and no reader can get.
"""

from collections.abc import Callable

import pytest

from tests.reference_impl.rocketmq.ctgmq.brokers import NAME_SERVERS
from tests.reference_impl.rocketmq.ctgmq.senders import ALONE, KEPT, LATER, Sender


def in_set(sender: Sender) -> None:
    sender.alone()
    sender.world.crash(sender.old)
    sender.world.start(sender.new)
    sender.world.run(15_000)


def commit_shrink(sender: Sender) -> None:
    sender.world.crash(sender.new)
    sender.cut_off(sender.old, *NAME_SERVERS)
    sender.world.run(2_500)
    sender.send(sender.old, ALONE)
    sender.world.crash(sender.old)
    sender.world.start(sender.new)
    sender.world.run(15_000)


def ask_first(sender: Sender) -> None:
    sender.alone()
    sender.world.crash(sender.old)
    sender.world.start(sender.old)


def error_codes(sender: Sender) -> None:
    sender.cut_off(sender.old, sender.new)
    sender.send(sender.old, ALONE[:1])
    sender.world.crash(sender.old)
    sender.group.master(but=sender.old)


def confirmed_role(sender: Sender) -> None:
    sender.world.crash(sender.old)
    sender.group.master(but=sender.old)
    sender.cut_off(sender.old, *NAME_SERVERS, sender.new)
    sender.world.start(sender.old)
    sender.world.run(500)
    sender.send(sender.old, ALONE)


def union(sender: Sender) -> None:
    sender.alone()
    for name_server in NAME_SERVERS:
        sender.world.cut(name_server, sender.old)  # it does not hear of the commit
    sender.world.start(sender.new)
    sender.world.run(3_000)
    sender.cut_off(sender.old, sender.new)
    sender.send(sender.old, [b"between"])
    sender.world.crash(sender.old)
    sender.group.master(but=sender.old)


STORIES: dict[str, tuple[Callable[[Sender], None], dict[str, object]]] = {
    "in-set": (in_set, {}),
    "commit-shrink": (commit_shrink, {}),
    "ask-first": (ask_first, {"replica_truncation": "slave-ack"}),
    "error-codes": (error_codes, {}),
    "confirmed-role": (confirmed_role, {}),
    "union": (union, {}),
}


def play(rule: str, without: str) -> Sender:
    story, settings = STORIES[rule]
    sender = Sender(without, **settings)
    story(sender)
    sender.end()
    return sender


@pytest.mark.parametrize("rule", STORIES)
def test_each_missing_rule_loses_exactly_what_it_protects(rule: str) -> None:
    sender = play(rule, without=rule)
    lost = sender.lost()
    assert lost
    assert not {*lost} & {*KEPT, *LATER}
    assert {*lost} == {*sender.group.admitted()} & {*sender.confirmed}


@pytest.mark.parametrize("rule", STORIES)
def test_with_the_rule_the_same_story_loses_nothing(rule: str) -> None:
    sender = play(rule, without="")
    assert sender.lost() == []
    assert sender.group.admitted() == []
