"""An operator's orders to brokers, as values, and the port that carries them out.

1. Processes are not started or stopped here: that is the executor's, whose journal knows them.
2. An order names one host, queue or policy; late-bound words are resolved by then.
3. What has been carried out is so: an operator that only asked for it waits, or raises.
"""

from dataclasses import dataclass
from typing import Protocol

from harness.plan.layouts.layout_values import PolicyValue


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
    """The removal of a node. `offline`: the node that gets the order is down; its disk is used."""

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
    """The promotion of a mirror of a queue without a master.

    It takes effect at the broker's next start; the old master is a mirror from its own next start.
    This order starts no broker.
    """

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
        """Carry out the order; return the answer. Raise DeployError, with host and answer."""
