"""The shape of a topology file of mirrored queues, and the layout that it becomes.

1. The shape checks every key by itself; `mistakes` checks several keys together.
2. What the file does not declare is unknown: the layout has None or "" there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.model import Host, Layout, PauseIfAllDown, Policy
from harness.plan.problems import nearest
from harness.plan.toml_problems import TomlProblem
from harness.plan.topology import BrokerNode, Topology
from harness.plan.topology_shape import (
    BROKERS_MAX,
    CommandTable,
    CredentialsTable,
    HostName,
    ProxyTable,
    Text,
    Title,
    TopologyShape,
    TopologyTable,
    Url,
    Way,
    WorkersTable,
    seconds,
)
from harness.plan.topology_toml import brokers_in, commands_of, proxy_of, twice
from harness.systems.rabbitmq.foreign.own import OUR_POLICY, RabbitOwn, own
from harness.systems.rabbitmq.layouts import DETECTION_TIMEOUT_S, PAUSE, Handling

_NODE = re.compile(r"[^\s@]{1,255}@[^\s@]{1,255}")
# RabbitMQ's defaults, which a policy that does not say otherwise leaves.
ON_SHUTDOWN, ON_FAILURE = "when-synced", "always"
_OUR_QUEUES = r"^mqproof\."


def _node(value: object) -> str:
    if isinstance(value, str) and _NODE.fullmatch(value):
        return value
    raise ValueError(
        f"must be what the cluster calls the node, like rabbit@rmq1, not {brief(value)}"
    )


class _BrokerTable(TopologyTable):
    host: HostName
    node: Annotated[str, BeforeValidator(_node)]
    amqp: Way
    management: Url
    kill: CommandTable | None = None
    stop: CommandTable | None = None
    freeze: CommandTable | None = None

    def broker(self) -> BrokerNode:
        address, port = self.amqp
        return BrokerNode(self.host, self.node, address, port, commands_of(self))


class _QueuesTable(TopologyTable):
    policies: Literal["leave", "set"] = "leave"
    copies: Annotated[int, Field(ge=1, le=BROKERS_MAX)] | None = None
    synchronise: Literal["automatic", "manual", "none"] | None = None
    mirrored_on: Literal["all", "exactly", "nodes", "none"] | None = None
    promote_on_shutdown: Literal["always", "when-synced"] | None = None
    promote_on_failure: Literal["always", "when-synced"] | None = None


class _PauseTable(TopologyTable):
    hosts: Annotated[list[Text], Field(min_length=1, max_length=BROKERS_MAX)]
    recover: Literal["ignore", "autoheal"]


class MirroredTopologyFile(TopologyTable):
    """One topology file."""

    title: Title = "A cluster that is there"
    system: Text
    net_ticktime: Annotated[float, seconds(*DETECTION_TIMEOUT_S)]
    partition_handling: Handling | None = None
    pause_if_all_down: _PauseTable | None = None
    credentials: CredentialsTable
    workers: WorkersTable = WorkersTable()
    proxy: ProxyTable | None = None
    queues: _QueuesTable = _QueuesTable()
    broker: Annotated[list[_BrokerTable], Field(min_length=1, max_length=BROKERS_MAX)]

    def topology(self, name: str, source: str) -> Topology:
        return Topology(
            name=name,
            title=self.title,
            system=self.system,
            detection_timeout_s=self.net_ticktime,
            brokers=tuple(one.broker() for one in self.broker),
            user=self.credentials.user,
            password=self.credentials.password,
            proxy=proxy_of(self.proxy),
            own=self._own(),
            source=source,
        )

    def _own(self) -> RabbitOwn:
        pause = self.pause_if_all_down
        return RabbitOwn(
            management={one.host: one.management for one in self.broker},
            sets=self.queues.policies == "set",
            copies=self.queues.copies,
            synchronise=self.queues.synchronise or "",
            partition_handling=self.partition_handling or "",
            pause=PauseIfAllDown(tuple(pause.hosts), pause.recover) if pause else None,
            mirrored_on=self._mirrored_on(),
            promote_on_shutdown=self._of_policy(self.queues.promote_on_shutdown, ON_SHUTDOWN),
            promote_on_failure=self._of_policy(self.queues.promote_on_failure, ON_FAILURE),
        )

    def _of_policy(self, declared: str | None, default: str) -> str:
        """A policy of ours says what the file says, or leaves RabbitMQ's default."""
        return declared or (default if self.queues.policies == "set" else "")

    def _mirrored_on(self) -> str:
        """A policy of ours follows from the number of copies."""
        queues = self.queues
        if queues.policies == "leave":
            return queues.mirrored_on or ""
        if queues.copies == 1:
            return "none"
        return "all" if queues.copies == len(self.broker) else "exactly"


def mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    brokers = brokers_in(document)
    for key in ("node", "amqp", "management"):
        yield from twice(key, brokers)
    yield from _queue_mistakes(document.get("queues"), len(brokers))
    yield from _pause_mistakes(document, [one.get("host") for one in brokers])


def _queue_mistakes(queues: object, brokers: int) -> Iterator[TomlProblem]:
    if not isinstance(queues, dict):
        return
    copies = queues.get("copies")
    if isinstance(copies, int) and brokers and copies > brokers:
        yield TomlProblem(("queues", "copies"), f"{copies} copies on {brokers} brokers")
    if queues.get("policies") == "set":
        if "mirrored_on" in queues:
            text = "is only for policies = 'leave': mqproof's own policy follows from copies"
            yield TomlProblem(("queues", "mirrored_on"), text)
        for key in ("copies", "synchronise"):
            if key not in queues:
                yield TomlProblem(
                    ("queues", key),
                    "is missing: policies = 'set' needs it; write the value to set",
                )


def _pause_mistakes(document: Mapping[str, Any], hosts: Sequence[object]) -> Iterator[TomlProblem]:
    pause, pauses = document.get(PAUSE), document.get("partition_handling") == PAUSE
    if pauses and pause is None:
        text = f"needs a table [{PAUSE}] with hosts (who sees none of them pauses) and recover"
        yield TomlProblem(("partition_handling",), text)
    if pause is not None and not pauses:
        yield TomlProblem((PAUSE,), f"is only for partition_handling = {PAUSE!r}")
    known = [host for host in hosts if isinstance(host, str)]
    listed = pause.get("hosts") if isinstance(pause, dict) else None
    for host in listed[:BROKERS_MAX] if isinstance(listed, list) else ():
        if isinstance(host, str) and host not in known:
            text = f"there is no broker's host {brief(host)}"
            yield TomlProblem((PAUSE, "hosts"), text, tuple(known), nearest(host, known))


MIRRORED_TOPOLOGY = TopologyShape(file=MirroredTopologyFile, mistakes=mistakes)


# --- the layout that it becomes ---------------------------------------------------------------


def layout(topology: Topology) -> Layout:
    """Hosts, timer, and what is declared."""
    declared = own(topology)
    return Layout(
        name=topology.name,
        profile=f"T={topology.detection_timeout_s:g}",
        system=topology.system,
        title=topology.title,
        hosts=tuple(Host(one.host, one.address, (one.node,)) for one in topology.brokers),
        detection_timeout_s=topology.detection_timeout_s,
        copies=declared.copies,
        synchronise=declared.synchronise,
        partition_handling=declared.partition_handling,
        pause_if_all_down=declared.pause,
        policies=tuple(_policies(topology, declared)),
        topology=topology,
    )


def _policies(topology: Topology, declared: RabbitOwn) -> Iterator[Policy]:
    """What mirrors the queues of runs as the file says, where mqproof is to see to that."""
    if not declared.sets or declared.copies == 1:
        return
    assert declared.copies is not None, "who sets a policy says how many copies"
    every = declared.copies == len(topology.brokers)
    mode: dict[str, str | int] = {"ha-mode": "all"}
    if not every:
        mode = {"ha-mode": "exactly", "ha-params": declared.copies}
    # Only what differs from RabbitMQ's default: an old broker may not know the key.
    if declared.promote_on_shutdown != ON_SHUTDOWN:
        mode["ha-promote-on-shutdown"] = declared.promote_on_shutdown
    if declared.promote_on_failure != ON_FAILURE:
        mode["ha-promote-on-failure"] = declared.promote_on_failure
    mode["ha-sync-mode"] = "automatic" if declared.synchronise == "automatic" else "manual"
    yield Policy(f"{OUR_POLICY}{topology.name}", _OUR_QUEUES, tuple(mode.items()))
