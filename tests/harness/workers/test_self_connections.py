"""The agent's calls to a port where nothing listens, and TCP connects the agent with itself."""

from typing import Any

import pytest

from faults.core.model import REFUSED
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER, RABBITMQ_SERVICE_PORTS
from harness.systems.rocketmq.api import ASK
from harness.workers.agent import answer, calls
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.machine.self_connections import HOST, dialled_from_itself, until_can_listen

AMQP = {"canary": "c", "queue": "", "by": RABBITMQ_SERVICE_PORTS.canaries}
ECHOED = {"says": "HELO\n", "begins": "HELO"}
PLACE = {"timeout_s": 5.0, "host": HOST}


async def reply(call: str, port: int, **arguments: Any) -> dict[str, Any]:
    """Return the agent's answer. Fail if no server can listen at the port afterwards."""
    request = {"do": call, "id": 1, **PLACE, "port": port, **arguments}
    said = await answer(calls(f"{HOST}:1"), request)
    await until_can_listen((HOST, port))
    return said


@pytest.mark.parametrize("words", [AMQP_HEADER.greets.arguments, ECHOED])
def test_an_echo_of_our_own_words_is_no_greeting(words: dict[str, Any]) -> None:
    @in_a_loop
    async def story() -> None:
        with dialled_from_itself() as (_, port):
            value = (await reply("greet", port, **words))["value"]
        assert (value["answered"], value["end"]) == (False, REFUSED)
        assert "with itself" in value["detail"]

    story()


@pytest.mark.parametrize(("call", "known"), [("connect", "connected"), ("hear", "answered")])
def test_a_port_that_only_the_agent_has_is_refused(call: str, known: str) -> None:
    @in_a_loop
    async def story() -> None:
        with dialled_from_itself() as (_, port):
            value = (await reply(call, port))["value"]
        assert not value[known]
        assert value["seconds"] < 1.0
        assert "with itself" in value["detail"]

    story()


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("canary_open", AMQP),
        ("words_ask", {"says": "queues\n"}),
        (ASK, {"code": 105, "fields": {}, "body": ""}),
    ],
)
def test_a_request_that_only_the_agent_hears_is_refused(
    call: str, arguments: dict[str, Any]
) -> None:
    @in_a_loop
    async def story() -> None:
        with dialled_from_itself() as (_, port):
            said = await reply(call, port, **arguments)
        assert said["kind"] == "refused", said
        assert "with itself" in said["text"]

    story()


@in_a_loop
async def test_an_http_request_that_only_the_agent_hears_is_refused() -> None:
    with dialled_from_itself() as address:
        url = "http://{}:{}/api/overview".format(*address)
        request = {"do": "http", "id": 1, "method": "GET", "url": url, "headers": {}, "body": ""}
        said = await answer(calls(f"{HOST}:1"), {**request, "timeout_s": 5.0})
        await until_can_listen(address)
    assert said["kind"] == "refused", said
