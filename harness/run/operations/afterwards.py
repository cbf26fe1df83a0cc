"""Verification of operations: brokers are asked whether an operator's order took effect.

1. An operator's `done` is verified if a broker can report it: members, masters, age of mirrors,
   policies. If it is not seen within LOOK_LIMIT_S, the operation fails.
2. If no broker can report it, the record says so, and why (`own_word`).
"""

from collections.abc import Awaitable, Callable, Mapping

from harness.cluster.orders import AddNode, DeletePolicy, ForgetNode, Order, SetPolicy
from harness.cluster.polling import until
from harness.cluster.port import DeployError, ReportsCluster, Roles
from harness.plan.operations import CANCEL_SYNC, FORCE_BOOT, WIPE_NODE

LOOK_LIMIT_S = 60.0
_DOWN = "a node that is down does not report what is on its disk"
OWN_WORD = {  # operations that no broker can be asked about, and why
    WIPE_NODE.name: _DOWN,
    FORCE_BOOT.name: _DOWN,
    CANCEL_SYNC.name: "of a queue that is synchronised by then nothing is broken off",
}
Look = Callable[[], Awaitable[bool]]


def own_word(answer: str, why: str) -> str:
    """What is written down of an operation that was not seen."""
    return f"{answer} (its operator's word alone: {why})"


async def of_members(broker: ReportsCluster, order: AddNode | ForgetNode) -> None:
    """Verify that the host which got the order lists the other, or not. Raise DeployError."""
    wanted = isinstance(order, AddNode)

    async def look() -> bool:
        return (order.host in await broker.members(order.through)) == wanted

    state = "list" if wanted else "strike off"
    await _seen(look, f"{order.through} did not {state} {order.host}")


async def of_policy(broker: ReportsCluster, order: Order) -> None:
    """Verify that the policy is as ordered, or is gone. Raise DeployError."""
    assert isinstance(order, SetPolicy | DeletePolicy), order
    wanted = None
    if isinstance(order, SetPolicy):
        wanted = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in order.definition
        }

    async def look() -> bool:
        return await broker.policy(order.name) == wanted

    what = "still exists" if wanted is None else f"does not have the definition {wanted}"
    await _seen(look, f"policy {order.name} {what}")


def confirms_reset(host: str, before: Mapping[str, Roles]) -> bool:
    """Whether it can be seen: the host held a queue, and not as its youngest mirror."""
    return any(_is_elder(host, roles) for roles in before.values())


async def of_reset(
    host: str, before: Mapping[str, Roles], roles: Callable[[], Awaitable[Mapping[str, Roles]]]
) -> None:
    """That it is in no queue any more what it was: a node with nothing is the youngest.

    Raises DeployError.
    """
    held = [queue for queue, found in before.items() if _is_elder(host, found)]

    async def look() -> bool:
        now = await roles()
        return not any(_is_elder(host, now[queue]) for queue in held)

    await _seen(look, f"{host} holds {', '.join(held)} as before: it was not emptied")


def _is_elder(host: str, roles: Roles) -> bool:
    return roles.master == host or host in roles.mirrors[:-1]


async def _seen(look: Look, otherwise: str) -> None:
    """A broker that does not answer has not been seen to obey."""

    async def tolerant() -> bool:
        try:
            return await look()
        except (DeployError, TimeoutError):
            return False

    if not await until(tolerant, bool, LOOK_LIMIT_S):
        raise DeployError(f"{otherwise} within {LOOK_LIMIT_S:g} s")
