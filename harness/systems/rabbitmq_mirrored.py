"""RabbitMQ with mirrored classic queues.

Clusters that somebody else runs are RabbitMQ's, or the reference's. mqproof leaves their policies
as they are, or sets one of its own for the queues of runs.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import BROKERS_MAX, TopologyShape
from harness.plan.layouts.layout_values import Policy
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.systems.files import text_in
from harness.systems.foreign import Foreign
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.core.mirrored_layouts import (
    REPLICATED,
    RabbitLayoutFile,
    mirrored_guarantees,
)
from harness.systems.rabbitmq.core.queues import MIRRORED
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.foreign import file
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.core.own import OUR_POLICY, RabbitOwn, api_ways, own
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.file import QueuesTable, RabbitTopologyFile

# RabbitMQ's defaults, which a policy that does not say otherwise leaves.
ON_SHUTDOWN, ON_FAILURE = "when-synced", "always"
_OUR_QUEUES = r"^mqproof\."


class _MirroredTable(QueuesTable):
    policies: Literal["leave", "set"] = Field(
        default="leave",
        description="`leave`: a policy of yours must mirror the queues of runs (`mqproof.RUN.*`); "
        "values that the file does not declare are unknown. `set`: mqproof sets a policy for "
        "`^mqproof\\.` with priority 1000",
    )
    copies: Annotated[int, Field(ge=1, le=BROKERS_MAX)] | None = Field(
        default=None,
        title=f"1 to {BROKERS_MAX}",
        description="replicas of a queue; required with `set`. Only `1` allows queues without "
        "mirrors, or `mirrored_on` = `none`",
    )
    synchronise: Literal["automatic", "manual", "none"] | None = Field(
        default=None, description="how mirrors get older messages; required with `set`"
    )
    mirrored_on: Literal["all", "exactly", "nodes", "none"] | None = Field(
        default=None, description="ha-mode of your policy; not with `set`"
    )
    promote_on_shutdown: Literal["always", "when-synced"] | None = Field(
        default=None, description="with `set` and without this key: `when-synced`"
    )
    promote_on_failure: Literal["always", "when-synced"] | None = Field(
        default=None, description="with `set` and without this key: `always`"
    )

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together."""
        if self.policies != "set":
            return
        if "mirrored_on" in self.given:
            text = "is only for policies = 'leave': mqproof's own policy follows from copies"
            yield TomlProblem(("queues", "mirrored_on"), text)
        text = "is missing: policies = 'set' needs it; write the value to set"
        for key in ("copies", "synchronise"):
            if key not in self.given:
                yield TomlProblem(("queues", key), text)


class MirroredTopologyFile(RabbitTopologyFile):
    """One topology file."""

    queues: _MirroredTable = Field(default=_MirroredTable(), description="what policies promise")

    def problems(self) -> Iterator[TomlProblem]:
        yield from super().problems()
        yield from self.replica_problems("copies", self.queues.copies)
        yield from self.queues.problems()

    def topology(self, name: str, source: str) -> Topology:
        return self.of_queues(name, source, self._own())

    def _own(self) -> RabbitOwn:
        return RabbitOwn(
            management=self.management,
            sets=self.queues.policies == "set",
            copies=self.queues.copies,
            synchronise=self.queues.synchronise or "",
            partition_handling=self.partition_handling or "",
            pause=self.pause,
            mirrored_on=self._mirrored_on(),
            promote_on_shutdown=self._of_policy(self.queues.promote_on_shutdown, ON_SHUTDOWN),
            promote_on_failure=self._of_policy(self.queues.promote_on_failure, ON_FAILURE),
            arguments=tuple(self.queues.arguments.items()),
            without_api=self.without_api,
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


MIRRORED_TOPOLOGY = TopologyShape(file=MirroredTopologyFile)


# --- the layout that it becomes ---------------------------------------------------------------


def layout(topology: Topology) -> Layout:
    """Hosts, timer, and what is declared."""
    return file.layout(topology, tuple(_policies(topology, own(topology))))


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


MIRRORED_FOREIGN = Foreign(
    shape=MIRRORED_TOPOLOGY,
    layout=layout,
    clients=AMQP_DOOR,
    brokers=lambda access: ForeignRabbits(access, layout(access.topology), MIRRORED),
    other_ways=api_ways,
    from_compose=None,  # its services get quorum queues
    example=text_in("harness.systems", "examples/rabbitmq_mirrored.toml"),
    driven_by=(),
)

RABBITMQ_MIRRORED = rabbitmq_declaration(
    "rabbitmq-mirrored",
    layout_file=RabbitLayoutFile,
    guarantees=mirrored_guarantees,
    replicated=REPLICATED,
    containers=RABBITMQ_CONTAINERS,
    foreign=MIRRORED_FOREIGN,
)
