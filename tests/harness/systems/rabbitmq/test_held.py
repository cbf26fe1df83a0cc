"""How much of a queue a node says that it holds: a number, or nothing that is one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest

from faults.core.model import FaultError
from harness.cluster.agent import AgentTimeout
from harness.systems.rabbitmq.api import ManagementApi, held_path
from harness.systems.rabbitmq.held import by_api, by_nobody
from harness.systems.rabbitmq.parts import by_command
from tests.rigs.machine.loops import in_a_loop

QUEUE = "x.orders"
NO_API = cast(ManagementApi, None)


@dataclass
class Api:
    """Nodes behind an agent that answer so; None: that do not answer."""

    answer: dict[str, Any] | None
    status: int = 200

    async def call(self, name: str, /, timeout_s: float, **request: Any) -> dict[str, Any]:
        assert request["url"].endswith(held_path(QUEUE))
        if self.answer is None:
            raise AgentTimeout("silent")
        return {"status": self.status, "body": json.dumps(self.answer)}


@dataclass
class Beside:
    """PlaceCommands by which a command beside the node answers this; None: the engine fails."""

    status: int
    text: str | None

    def run(self, place: str, command: Sequence[str]) -> tuple[int, str]:
        assert (place, command[0], command[2]) == ("rmq2", "timeout", "rabbitmqctl")
        assert f'<<"{QUEUE}">>' in command[-1]
        if self.text is None:
            raise FaultError("no such container")
        return self.status, self.text

    def run_instead(self, place: str, script: str, limit_s: float) -> tuple[int, str]:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("answer", "status", "held"),
    [
        ({"name": QUEUE, "held_here": 7}, 200, 7),
        ({"name": QUEUE, "held_here": 0}, 200, 0),
        ({"name": QUEUE, "held_here": None}, 200, None),
        ({"name": QUEUE}, 200, None),
        ({"held_here": 7}, 404, None),
        (None, 200, None),
    ],
)
@in_a_loop
async def test_the_api_reports_the_messages_of_a_node_or_none(
    answer: dict[str, Any] | None, status: int, held: int | None
) -> None:
    api = ManagementApi(cast(Any, Api(answer, status)), {"rmq2": "http://rmq2:15672"})
    assert await by_api(api, QUEUE, "rmq2") == held


@pytest.mark.parametrize(
    ("status", "text", "held"),
    [
        (0, "7\n", 7),
        (0, "warning: locale is latin1\n7\n", 7),
        (0, "none", None),
        (0, "", None),
        (0, "-1", None),
        (1, "7", None),
        (124, "", None),
        (0, None, None),
    ],
)
@in_a_loop
async def test_the_command_line_reports_a_number_or_unknown(
    status: int, text: str | None, held: int | None
) -> None:
    ask = by_command(Beside(status, text))
    assert await ask(NO_API, QUEUE, "rmq2") == held


@in_a_loop
async def test_queues_on_nodes_without_permission_are_unknown() -> None:
    assert await by_nobody(NO_API, QUEUE, "rmq2") is None
