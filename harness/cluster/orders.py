"""What an operator tells the brokers, as values, and the port that carries it out.

1. Processes are not started or stopped here: that is the executor's, whose journal knows them.
2. An order names one host, queue or policy; late-bound words are resolved by then.
3. What has been carried out is so: an operator that only asked for it waits, or raises.
"""

from dataclasses import dataclass
from typing import Protocol

from harness.plan.model import PolicyValue


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """Holds for the whole cluster when it returns, as far as its nodes answer."""

    name: str
    pattern: str
    definition: tuple[tuple[str, PolicyValue], ...]
    priority: int


@dataclass(frozen=True, slots=True)
class DeletePolicy:
    name: str


@dataclass(frozen=True, slots=True)
class Synchronise:
    """Asked for when it returns, not done."""

    queue: str  # the broker's name


@dataclass(frozen=True, slots=True)
class CancelSync:
    """Asked for when it returns; of a queue that is not synchronised nothing is broken off."""

    queue: str


@dataclass(frozen=True, slots=True)
class AddNode:
    """A node that stands by itself joins the cluster that another one is of."""

    host: str
    through: str


@dataclass(frozen=True, slots=True)
class ForgetNode:
    """`offline`: the node that is told is down itself, and is asked by its disk."""

    host: str
    through: str
    offline: bool


@dataclass(frozen=True, slots=True)
class ForceBoot:
    """Of a node that is down."""

    host: str


@dataclass(frozen=True, slots=True)
class ResetNode:
    """A running node leaves the cluster, and joins it again with nothing."""

    host: str


@dataclass(frozen=True, slots=True)
class WipeNode:
    """The disk of a node that is down is empty then."""

    host: str


@dataclass(frozen=True, slots=True)
class Promote:
    """A mirror of a queue that has no master is its master from his next start on; who was, is a
    mirror from his. Nobody is started by that."""

    queue: str  # the broker's name
    host: str  # the mirror's


Order = (
    SetPolicy
    | DeletePolicy
    | Synchronise
    | CancelSync
    | AddNode
    | ForgetNode
    | ForceBoot
    | ResetNode
    | WipeNode
    | Promote
)


class Operator(Protocol):
    async def carry_out(self, order: Order) -> str:
        """What was said. Raises DeployError: what was told to whom, and what it answered."""
