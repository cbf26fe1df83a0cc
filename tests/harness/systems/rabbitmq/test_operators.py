"""Operators' orders: what brokers and command lines are reported, and what becomes of a no."""

import json
from typing import Any

import pytest

from harness.cluster.agent import AgentTimeout
from harness.cluster.orders import (
    AddNode,
    CancelSync,
    DeletePolicy,
    ForceBoot,
    ForgetNode,
    Order,
    ResetNode,
    SetPolicy,
    Synchronise,
    WipeNode,
)
from harness.cluster.port import DeployError
from harness.systems.rabbitmq.api import ManagementApi
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.core import commands
from tests.rigs.machine.loops import in_a_loop

HOSTS = ("rmq1", "rmq2", "rmq3")
DEFINITION: tuple[tuple[str, Any], ...] = (("ha-mode", "nodes"), ("ha-params", ("rabbit@rmq1",)))
AS_JSON = {"ha-mode": "nodes", "ha-params": ["rabbit@rmq1"]}


class Brokers:
    """Three brokers behind an agent: they share policies, but `deaf` ones hear of none."""

    def __init__(self) -> None:
        self.policies: dict[str, Any] = {}
        self.silent: set[str] = set()
        self.deaf: set[str] = set()
        self.refuses = 0
        self.requests: list[tuple[str, str, str, Any]] = []

    async def call(self, name: str, /, timeout_s: float, **request: Any) -> dict[str, Any]:
        host, _, path = request["url"].removeprefix("http://").partition(":15672")
        method, body = request["method"], json.loads(request["body"] or "null")
        if host in self.silent:
            raise AgentTimeout("silent")
        if method != "GET":
            self.requests.append((host, method, path, body))
            return {"status": self.refuses or self._changed(method, path, body), "body": ""}
        found = None if host in self.deaf else self.policies.get(path)
        return {"status": 200 if found else 404, "body": json.dumps(found)}

    def _changed(self, method: str, path: str, body: Any) -> int:
        if method == "PUT":
            self.policies[path] = body
        elif method == "DELETE":
            return 204 if self.policies.pop(path, None) else 404
        return 204


def operator(brokers: Brokers) -> ApiOperator:
    return ApiOperator(ManagementApi(brokers, {host: f"http://{host}:15672" for host in HOSTS}))  # type: ignore[arg-type]


@in_a_loop
async def test_first_answering_host_sets_a_policy_that_all_must_know() -> None:
    brokers = Brokers()
    brokers.silent = {"rmq1"}
    said = await operator(brokers).carry_out(SetPolicy("mqproof", "^mq", DEFINITION, 4))
    assert said == "rmq2 said 204"
    assert brokers.requests == [
        (
            "rmq2",
            "PUT",
            "/api/policies/%2F/mqproof",
            {"pattern": "^mq", "definition": AS_JSON, "apply-to": "queues", "priority": 4},
        )
    ]


@in_a_loop
async def test_policy_unknown_to_one_host_is_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.systems.rabbitmq.api_operator.EVERYWHERE_LIMIT_S", 0.3)
    brokers = Brokers()
    brokers.deaf = {"rmq3"}
    with pytest.raises(DeployError, match="policy mqproof: rmq3 had not heard"):
        await operator(brokers).carry_out(SetPolicy("mqproof", "^mq", DEFINITION, 0))


@in_a_loop
async def test_a_policy_that_is_not_there_cannot_be_deleted() -> None:
    brokers = Brokers()
    await operator(brokers).carry_out(SetPolicy("mqproof", "^mq", DEFINITION, 0))
    assert await operator(brokers).carry_out(DeletePolicy("mqproof")) == "rmq1 said 204"
    with pytest.raises(DeployError, match="delete policy mqproof: rmq1 said 404"):
        await operator(brokers).carry_out(DeletePolicy("mqproof"))


@in_a_loop
@pytest.mark.parametrize(
    ("order", "action"), [(Synchronise("mq.r.q"), "sync"), (CancelSync("mq.r.q"), "cancel_sync")]
)
async def test_a_synchronisation_starts_and_stops_by_queue_name(order: Order, action: str) -> None:
    brokers = Brokers()
    await operator(brokers).carry_out(order)
    assert brokers.requests == [
        ("rmq1", "POST", "/api/queues/%2F/mq.r.q/actions", {"action": action})
    ]


@in_a_loop
async def test_refusal_is_final_and_silence_everywhere_is_an_error() -> None:
    brokers = Brokers()
    brokers.refuses = 400
    with pytest.raises(DeployError, match=r"synchronise q: rmq1 said 400"):
        await operator(brokers).carry_out(Synchronise("q"))
    brokers.silent = set(HOSTS)
    with pytest.raises(DeployError, match=r"synchronise q: no host answered"):
        await operator(brokers).carry_out(Synchronise("q"))
    with pytest.raises(DeployError, match="ForceBoot: the management API has no such thing"):
        await operator(brokers).carry_out(ForceBoot("rmq1"))


@pytest.mark.parametrize(
    ("order", "host", "instead", "text"),
    [
        (
            AddNode("rmq4", "rmq1"),
            "rmq4",
            False,
            "rabbitmqctl await_startup --timeout 60 && rabbitmqctl stop_app && rabbitmqctl reset "
            "&& rabbitmqctl join_cluster rabbit@rmq1 && rabbitmqctl start_app",
        ),
        (
            ResetNode("rmq3"),
            "rmq3",
            False,
            "rabbitmqctl await_startup --timeout 60 && rabbitmqctl stop_app && rabbitmqctl reset "
            "&& rabbitmqctl start_app",
        ),
        (
            ForgetNode("rmq1", "rmq3", offline=False),
            "rmq3",
            False,
            "rabbitmqctl forget_cluster_node rabbit@rmq1",
        ),
        (
            ForgetNode("rmq3", "rmq1", offline=True),
            "rmq1",
            True,
            "epmd -daemon && rabbitmqctl forget_cluster_node --offline rabbit@rmq3",
        ),
        (ForceBoot("rmq1"), "rmq1", True, "epmd -daemon && rabbitmqctl force_boot"),
    ],
)
def test_command_runs_beside_a_live_or_replaces_a_dead_node(
    order: Order, host: str, instead: bool, text: str
) -> None:
    script = commands.script(order)
    assert script is not None
    assert (script.host, script.instead, script.text) == (host, instead, text)


def test_empty_disk_keeps_the_cookie_beside_the_data() -> None:
    script = commands.script(WipeNode("rmq1"))
    assert script is not None
    assert script.instead
    assert "rm -rf /var/lib/rabbitmq/mnesia &&" in script.text


def test_operations_of_the_management_api_have_no_script() -> None:
    assert commands.script(DeletePolicy("mqproof")) is None
    assert commands.script(Synchronise("q")) is None
