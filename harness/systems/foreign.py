"""A system with external brokers: its part of a topology file, and its adapters.

1. The code that puts them under test (harness/deploy/external) knows no system by its name.
2. Nothing of the owner's is touched: what mqproof makes there has our names, and is removed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from faults.executors.service_ports import ServicePorts
from harness.cluster.agent import AgentClient, AgentError
from harness.plan.files.topology_shape import TopologyShape
from harness.plan.layouts.topology import BrokerNode, Topology
from harness.plan.layouts.versions import Versions
from harness.plan.model import Layout
from harness.plan.problems import Problem
from harness.systems.running_broker import RunningBroker


class Examined(NamedTuple):
    """What `doctor` found. `remedy` is empty where all is well. `problem`: if it is bad input.
    `refused`: a broker refuses a right."""

    what: str
    found: str
    remedy: str
    problem: Problem | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How brokers are asked. `login`: name and password. `ours`: how the names of runs' queues
    begin; no other is looked at or removed, whatever its name begins with. `versions`: in which
    the system exists; None: mqproof does not know them."""

    topology: Topology
    agent: AgentClient
    login: tuple[str, str]
    ours: Callable[[], Sequence[str]]
    versions: Versions | None = None


class ForeignBrokers(Protocol):
    """Brokers of one topology, asked by one agent."""

    @property
    def broker(self) -> RunningBroker: ...

    async def refusals(self) -> tuple[Problem, ...]:
        """What the user may not do that mqproof will have to: no use in waiting for it."""

    async def rights(self) -> tuple[Problem, ...]:
        """Return what the user may not do with a queue, tried with one of our own, or what the
        file says wrong of it. A failure of another kind is no refusal. Never raises."""

    async def contradictions(self) -> tuple[str, ...]:
        """What they say of themselves against the file. Raises DeployError where none answers."""

    def examined(self) -> AsyncIterator[Examined]:
        """All of that and more for `doctor`: never raises. Only queues of its own are touched."""

    async def remove_queues(self) -> None:
        """Remove the queues of runs. Raise DeployError if some remain."""

    async def remove_settings(self) -> None:
        """What the file had mqproof set (`Own.sets`). Raises DeployError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsDoor:
    """The clients' endpoint of a broker. `key_of`: its key in the file's [[broker]] tables.

    `speaks`: the protocol, for people. `enter`: log in with the agent's login, and out again,
    within so many seconds; it raises AgentError. `refuses`: whether a broker refuses the login, by
    that error. `remedy`: what to do about it.
    """

    key_of: Callable[[Topology], str]
    speaks: str
    service_ports: ServicePorts
    enter: Callable[[BrokerNode, AgentClient, float], Awaitable[None]]
    refuses: Callable[[AgentError], bool]
    remedy: Callable[[Topology, AgentError], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """Nothing has a default. `layout`: a topology as runs know it; what is not declared in it is
    None or "" there."""

    shape: TopologyShape
    layout: Callable[[Topology], Layout]
    clients: ClientsDoor
    brokers: Callable[[Access], ForeignBrokers]
    # Where else, `address:port`, a host's broker shows its certificate: its management API.
    other_ways: Callable[[Topology, str], Sequence[str]]
    # A first topology file, by a Compose file: its text, its name, its folder's, the new file's.
    # Raises PlanError. None: it makes none.
    from_compose: Callable[[str, str, str, str], str] | None
    # The text of a first topology file, with comments; TOPOLOGY stands for its path. None: it has
    # none.
    example: Callable[[], str] | None
    # The clients that may drive clusters of somebody else's, the default first; empty: all that
    # the system has.
    driven_by: tuple[str, ...]
