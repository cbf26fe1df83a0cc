"""An operator's orders over the management API: policies and synchronisation.

1. An order goes to one host, the first that answers, and holds for the whole cluster. If that host
   refuses, the order fails; a silent host is skipped.
2. A policy is set or removed when every host that answers reports it so.
"""

from typing import Any

from harness.cluster.orders import (
    CancelSync,
    DeletePolicy,
    Order,
    SetPolicy,
    Synchronise,
)
from harness.cluster.polling import until
from harness.cluster.port import DeployError
from harness.systems.rabbitmq.api import (
    ManagementApi,
    Reply,
    policy_path,
    queue_actions_path,
)

EVERYWHERE_LIMIT_S = 10.0
_TAKEN = (200, 201, 204)


class ApiOperator:
    """orders.Operator for brokers that speak RabbitMQ's management API, as far as that goes."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    async def carry_out(self, order: Order) -> str:
        match order:
            case SetPolicy():
                return await self._set(order)
            case DeletePolicy(name=name):
                answer = await self._send(f"delete policy {name}", policy_path(name), "DELETE")
                return await self._everywhere(name, None, answer)
            case Synchronise(queue=queue):
                return await self._act(f"synchronise {queue}", queue, "sync")
            case CancelSync(queue=queue):
                return await self._act(
                    f"cancel the synchronisation of {queue}", queue, "cancel_sync"
                )
        raise DeployError(f"{type(order).__name__}: the management API has no such thing")

    async def _set(self, order: SetPolicy) -> str:
        definition = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in order.definition
        }
        body = {
            "pattern": order.pattern,
            "definition": definition,
            "apply-to": "queues",
            "priority": order.priority,
        }
        what = f"set policy {order.name}"
        answer = await self._send(what, policy_path(order.name), "PUT", body)
        return await self._everywhere(order.name, definition, answer)

    async def _act(self, what: str, queue: str, action: str) -> str:
        return await self._send(what, queue_actions_path(queue), "POST", {"action": action})

    async def _send(self, what: str, path: str, method: str, body: Any = None) -> str:
        for host in self._api.hosts:
            reply = await self._api.ask(host, path, method, body)
            if reply is None:
                continue
            if reply.status not in _TAKEN:
                raise DeployError(f"{what}: {host} said {reply.status} {reply.body}")
            return f"{host} said {reply.status}"
        raise DeployError(f"{what}: no host answered")

    async def _everywhere(self, name: str, definition: dict[str, Any] | None, answer: str) -> str:
        """Waits until all that answer tell this definition; None: that there is none."""

        async def look() -> dict[str, Reply | None]:
            return await self._api.ask_all(policy_path(name))

        def agreed(found: dict[str, Reply | None]) -> bool:
            return not _differing(found, definition)

        found = await until(look, agreed, EVERYWHERE_LIMIT_S)
        if differing := _differing(found, definition):
            hosts = ", ".join(differing)
            raise DeployError(f"policy {name}: {hosts} had not heard in {EVERYWHERE_LIMIT_S:g} s")
        return answer


def _differing(found: dict[str, Reply | None], definition: dict[str, Any] | None) -> list[str]:
    """The hosts that answer, and tell another policy."""
    return [
        host
        for host, reply in found.items()
        if reply is not None and _definition(reply) != definition
    ]


def _definition(reply: Reply) -> Any:
    return reply.body.get("definition") if reply.status == 200 else None
