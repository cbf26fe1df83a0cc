"""The tables of a cluster (Mnesia's part): its nodes, exchanges, queues, policies,
groups.

1. Records are values; a command (metadata/commands.py) replaces them, nothing else does.
2. Every node that is connected carries out the same commands in the same order, so that tables of
   the same version are equal.
3. There is one virtual host, "/", so that names need no prefix.
"""

from typing import Any

import msgspec

from reference_impl.pid import Pid


class Exchange(msgspec.Struct, frozen=True, array_like=True):
    name: str
    kind: str  # direct, fanout, topic
    durable: bool
    auto_delete: bool
    internal: bool
    arguments: dict[str, Any]


class Binding(msgspec.Struct, frozen=True, array_like=True):
    exchange: str
    queue: str
    key: str
    arguments: dict[str, Any]


class Link(msgspec.Struct, frozen=True, array_like=True):
    """A binding from exchange to exchange: what `source` gets, `destination` gets as well."""

    source: str
    destination: str
    key: str
    arguments: dict[str, Any]


class Queue(msgspec.Struct, frozen=True, array_like=True):
    """A queue and who holds it (docs/behaviour/rabbitmq.md 3.3 to 3.6)."""

    name: str
    durable: bool
    auto_delete: bool
    owner: Pid | None  # the connection of an exclusive queue
    arguments: dict[str, Any]
    home: str  # the node of the last master
    master: Pid | None  # None while it is down
    mirrors: tuple[Pid, ...]  # in the order in which they joined: the oldest first
    synchronised: tuple[Pid, ...]  # of the mirrors
    recoverable: tuple[str, ...]  # nodes whose copy may become master after all have stopped
    # A mirror refused to take over (docs/behaviour/rabbitmq.md item 44).
    waits_for_home: bool = False
    # The whole cluster stopped, and the home has not had it since (item 1).
    is_absent: bool = False


class Policy(msgspec.Struct, frozen=True, array_like=True):
    name: str
    pattern: str
    definition: dict[str, Any]
    priority: int
    apply_to: str  # all, queues, exchanges


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A process in a group, in the order of the ring. A dead one stays until it is forgotten."""

    pid: Pid
    alive: bool


class Group(msgspec.Struct, frozen=True, array_like=True):
    """A GM group (docs/behaviour/rabbitmq.md 3.1): one a mirrored queue, under the queue's
    name."""

    name: str
    version: int
    members: tuple[Member, ...]


class Tables(msgspec.Struct):
    """The whole. `version` counts the commands that made it."""

    version: int = 0
    nodes: tuple[str, ...] = ()  # members of the cluster, those that are down, too
    forgotten: tuple[str, ...] = ()  # who was a member, and has not been admitted again
    exchanges: dict[str, Exchange] = {}
    bindings: dict[str, tuple[Binding, ...]] = {}  # by exchange
    links: dict[str, tuple[Link, ...]] = {}  # by source
    queues: dict[str, Queue] = {}
    policies: dict[str, Policy] = {}
    groups: dict[str, Group] = {}


class Denied(msgspec.Struct, frozen=True, array_like=True):
    """The result of a command that cannot be: the AMQP code and its text. Nothing has changed."""

    code: int
    text: str
