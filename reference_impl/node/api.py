"""The management API of a node: what RabbitMQ's HTTP API answers, as far as it is here.

1. Paths, bodies and statuses are RabbitMQ's (docs/behaviour/rabbitmq.md 5.4); what is not here is
   404.
2. What the tables say is answered at once. What other processes must say: questions.py.
3. A policy is answered when every node has it.
4. Who asks has been authenticated by the shell.
5. What RabbitMQ's operators say on the command line is said here, too: limits, nodes that are to
   be forgotten, a reset.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from reference_impl.metadata.commands import DeletePolicy, PutPolicy
from reference_impl.metadata.governing import is_mirrored
from reference_impl.metadata.nodes import FORGOTTEN, NOT_FORGOTTEN, ForgetNode
from reference_impl.node import api_json, http
from reference_impl.node.alarms import RESOURCES
from reference_impl.node.api_connections import ConnectionAnswers
from reference_impl.node.api_queues import QueueAnswers
from reference_impl.node.http import Request
from reference_impl.node.policies import PolicyError, parsed
from reference_impl.node.questions import Questions
from reference_impl.pid import Pid
from reference_impl.process import (
    Answer,
    ApiRequest,
    Committed,
    Down,
    Effect,
    Limit,
    Reset,
    Send,
    Timeout,
    World,
)
from reference_impl.protocol.connections import Connections, ListConnections
from reference_impl.protocol.queues import Done, Looked, Refused

POLICY_LIMIT_MS = 60_000
NO_ONLINE_NODES = "You cannot leave a cluster if no online nodes are present."  # RabbitMQ's words


class _Limited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    octets: Annotated[int, msgspec.Meta(ge=0)]


class _ResetOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    join: str | None = None


class Api:
    """Process number 1 of a node."""

    def __init__(self, pid: Pid, world: World) -> None:
        self._pid = pid
        self._world = world
        self._questions = Questions(pid)
        self._routes: http.Routes = {
            ("GET", "overview"): self._overview,
            ("GET", "nodes"): self._nodes,
            ("GET", "nodes/*"): self._node,
            ("DELETE", "nodes/*"): self._forget_node,
            ("GET", "reset"): self._boot,
            ("POST", "reset"): self._reset,
            ("GET", "policies"): self._policies,
            ("GET", "policies/vhost"): self._policies,
            ("GET", "policies/vhost/*"): self._policy,
            ("PUT", "policies/vhost/*"): self._put_policy,
            ("DELETE", "policies/vhost/*"): self._delete_policy,
            ("GET", "aliveness-test/vhost"): self._fine,
            ("GET", "health/checks/alarms"): self._alarms,
            ("GET", "health/checks/local-alarms"): self._local_alarms,
            ("PUT", "limits/*"): self._limit,
            ("DELETE", "limits/*"): self._limit,
            ("GET", "health/checks/virtual-hosts"): self._fine,
            ("GET", "health/checks/node-is-mirror-sync-critical"): self._sync_critical,
            **QueueAnswers(pid, world, self._questions).routes,
            **ConnectionAnswers(pid, world, self._questions).routes,
        }

    def handle(self, event: Any) -> list[Effect]:
        match event:
            case ApiRequest():
                request = http.parse(event)
                if request is None:
                    return [Answer(event.request, 404, b"")]
                return http.routed(self._routes, request)
            case Looked() | Done() | Refused() | Connections():
                return self._questions.answered(event.request, event)
            case Committed():
                return self._questions.answered(event.request, event.result)
            case Down():
                return self._questions.gone(event.pid)
            case Timeout():
                return self._questions.timed_out(event.name)
            case ListConnections():
                listed = Connections(event.request, self._world.connections())
                return [Send(event.asker, listed)]
        return []

    def _overview(self, request: Request) -> list[Effect]:
        return http.answer(request, api_json.overview_json(self._world))

    def _nodes(self, request: Request) -> list[Effect]:
        return http.answer(request, api_json.nodes_json(self._world))

    def _node(self, request: Request) -> list[Effect]:
        for node in api_json.nodes_json(self._world):
            if node["name"] == request.name:
                return http.answer(request, node)
        return http.not_found(request)

    def _forget_node(self, request: Request) -> list[Effect]:
        """`rabbitmqctl forget_cluster_node`."""

        def finish(result: Any) -> list[Effect]:
            if result is None:
                return http.error(request, 500, "a node does not answer")
            if result == FORGOTTEN:
                return http.done(request)
            return http.bad(request, NOT_FORGOTTEN[result].format(request.name))

        node = request.name.removeprefix(api_json.node_name(""))
        forget = ForgetNode(node, self._world.running())
        return self._questions.transact(forget, POLICY_LIMIT_MS, finish)

    def _boot(self, request: Request) -> list[Effect]:
        """By which somebody who has reset it sees that it has booted since."""
        return http.answer(request, {"boot": self._pid.boot})

    def _reset(self, request: Request) -> list[Effect]:
        """`rabbitmqctl stop_app`, `reset`, `join_cluster` where one is named, `start_app`: that
        goes on after the answer."""
        world = self._world
        try:
            through = msgspec.json.decode(request.body or b"{}", type=_ResetOptions).join
        except msgspec.MsgspecError as error:
            return http.bad(request, str(error))
        if len(world.tables.nodes) > 1 and world.running() == (world.node,):
            return http.bad(request, NO_ONLINE_NODES)
        return [*self._boot(request), Reset(through)]

    def _policies(self, request: Request) -> list[Effect]:
        policies = sorted(self._world.tables.policies.items())
        return http.answer(request, [api_json.policy_json(policy) for _, policy in policies])

    def _policy(self, request: Request) -> list[Effect]:
        policy = self._world.tables.policies.get(request.name)
        if policy is None:
            return http.not_found(request)
        return http.answer(request, api_json.policy_json(policy))

    def _put_policy(self, request: Request) -> list[Effect]:
        try:
            policy = parsed(request.name, request.body)
        except PolicyError as error:
            return http.bad(request, str(error))

        def finish(is_new: Any) -> list[Effect]:
            if is_new is None:
                return http.error(request, 500, "a node does not answer")
            return http.done(request, 201 if is_new else 204)

        return self._questions.transact(PutPolicy(policy), POLICY_LIMIT_MS, finish)

    def _delete_policy(self, request: Request) -> list[Effect]:
        def finish(was_there: Any) -> list[Effect]:
            if was_there is None:
                return http.error(request, 500, "a node does not answer")
            return http.done(request) if was_there else http.not_found(request)

        return self._questions.transact(DeletePolicy(request.name), POLICY_LIMIT_MS, finish)

    def _alarms(self, request: Request) -> list[Effect]:
        return self._short(request, self._world.alarms())

    def _local_alarms(self, request: Request) -> list[Effect]:
        node = self._world.node
        own = self._world.alarms().get(node, frozenset())
        return self._short(request, {node: own} if own else {})

    def _short(self, request: Request, alarms: Mapping[str, frozenset[str]]) -> list[Effect]:
        listed = [
            {"node": api_json.node_name(node), "resource": name}
            for node, names in sorted(alarms.items())
            for name in sorted(names)
        ]
        if not listed:
            return self._fine(request)
        return http.failed(request, {"status": "failed", "alarms": listed})

    def _limit(self, request: Request) -> list[Effect]:
        """Ours alone: RabbitMQ's operators say `rabbitmqctl set_vm_memory_high_watermark`."""
        if request.name not in RESOURCES:
            return http.not_found(request)
        octets = None
        if request.method == "PUT":
            try:
                octets = msgspec.json.decode(request.body, type=_Limited).octets
            except msgspec.MsgspecError as error:
                return http.bad(request, str(error))
        own = self._world.alarms().get(self._world.node, frozenset())
        answer = http.answer(request, {"alarm": request.name in own})
        return [Limit(request.name, octets), *answer]

    def _fine(self, request: Request) -> list[Effect]:
        """Answer "ok": it cannot fail here, for there is one virtual host."""
        return http.answer(request, {"status": "ok"})

    def _sync_critical(self, request: Request) -> list[Effect]:
        """503 while a mirrored queue has its master here and no synchronised mirror."""
        tables = self._world.tables
        critical = [
            {"name": queue.name, "virtual_host": http.VHOST, "type": "classic"}
            for _, queue in sorted(tables.queues.items())
            if queue.master is not None
            and queue.master.node == self._world.node
            and is_mirrored(tables, queue)
            and not queue.synchronised
        ]
        if not critical:
            return self._fine(request)
        answer = {"status": "failed", "queues": critical}
        return http.failed(request, answer)
