"""Everything that cluster cores tell each other survives the wire."""

import typing

import msgspec
import pytest

from reference_impl.metadata import commands
from reference_impl.metadata.exchanges import predeclared
from reference_impl.metadata.messages import (
    Admit,
    Applied,
    Commit,
    Entry,
    Id,
    Lead,
    Need,
    Settled,
    Snapshot,
    Submit,
    Take,
    Term,
    Took,
)
from reference_impl.metadata.records import AddQueue
from reference_impl.metadata.tables import Policy, Queue
from reference_impl.node import gossip as g
from reference_impl.pid import Pid

TERM, ID = Term(3, "b"), Id("a", 2, 7)
POLICY = Policy("p", "^q", {"ha-mode": "all"}, 0, "queues")
QUEUE = Queue("q", True, False, None, {}, "a", Pid("a", 1, 9), (), (), ("a",))

SAMPLES: list[g.Gossip] = [
    Submit(ID, commands.PutPolicy(POLICY)),
    Commit(TERM, Entry(4, ID, AddQueue(QUEUE)), 3),
    Commit(TERM, Entry(5, ID, Admit("c", 2)), 3),
    Applied(TERM, 4),
    Settled(4),
    Take(TERM),
    Took(TERM, 4, (Entry(4, ID, commands.DeletePolicy("p")),)),
    Lead(TERM, 4),
    Need(TERM),
    Snapshot(TERM, predeclared(), {"a": 1}),
    g.State(g.RUNNING, TERM, 4, "b", {"a": 1, "b": 2}, ("c",)),
    g.Join(("a", "b")),
    g.NotYet(),
    g.Doubt("c", 1),
    g.Probe("c", 1),
    g.Alive("c", 1),
    g.StillSeen("c"),
    g.Dismissed(),
    g.Clients(),
    g.ClientCount(12),
    g.GiveWay(("a", "b")),
]


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(sample) for sample in SAMPLES} == set(typing.get_args(g.Gossip))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_gossip_message_survives_its_encoding(sample: g.Gossip) -> None:
    octets = msgspec.msgpack.encode(sample)
    assert msgspec.msgpack.decode(octets, type=g.Gossip) == sample


def test_every_command_is_in_the_union_and_distinct() -> None:
    kinds = typing.get_args(commands.Command)
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)
    assert all(callable(kind.apply) for kind in kinds)
