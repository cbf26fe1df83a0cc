"""PURE: what a broker of this family has to be told and asked of queues of one kind, declared.

1. Nothing has a default: a system's kind of queue says all of it.
2. Who holds a queue a host tells by what it knows. Where hosts can be wrong about it for long, as
   one that was cut off is, so many must say the same before it is believed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.cluster.port import DeployError, Roles
from harness.plan.model import Layout
from harness.systems.rabbitmq.core import cluster_state

Answer = dict[str, Any]  # the API's, of one queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueKind:
    """How queues of a kind are declared, and what the management API says of one.

    `arguments`: of a declare. `mirrors_wanted`: of a queue that was just declared. `agreeing`: how
    many of so many hosts must say the same of who holds a queue. `names_dead`: whether such an
    answer names mirrors on hosts that may be down. `ask_limit_s`: so long the API may take while a
    member hangs.
    """

    arguments: Callable[[Layout], Mapping[str, str | int]]
    roles_of: Callable[[Answer], Roles]
    mirrors_wanted: Callable[[Layout, Answer], int]
    doubts: Callable[[Layout, Answer], list[str]]
    agreeing: Callable[[int], int]
    names_dead: Callable[[Answer], bool]
    ask_limit_s: float


def agreed(answers: Sequence[Roles], enough: int) -> Roles | None:
    """Return the roles on which `enough` hosts agree, the last answer; None: not yet."""
    for roles in reversed(answers):
        if sum(one.master == roles.master for one in answers) >= enough:
            return roles
    return None


def unanimous(queue: str, answers: Sequence[Roles]) -> Roles:
    """Return the roles if all answers agree, though they are few. Raise DeployError."""
    if len({one.master for one in answers}) > 1:
        named = ", ".join(sorted({str(one.master) for one in answers}))
        raise DeployError(f"brokers do not agree who holds {queue}: {named}")
    return answers[-1]


def _mirrors_wanted(layout: Layout, queue: Answer) -> int:
    """As the layout declares, or else as the policy says that governs the queue."""
    if layout.copies is not None:
        return layout.copies - 1
    return cluster_state.mirrors_wanted(queue, len(layout.hosts))


MIRRORED = QueueKind(
    arguments=lambda _: {},
    roles_of=cluster_state.roles_of,
    mirrors_wanted=_mirrors_wanted,
    doubts=cluster_state.queue_doubts,
    agreeing=lambda _: 1,
    names_dead=lambda _: False,
    ask_limit_s=4.0,
)
