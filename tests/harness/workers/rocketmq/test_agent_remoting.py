"""The agent's calls in RocketMQ's protocol, against servers with scripted answers."""

import asyncio
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from faults.core.model import FIN, REFUSED
from harness.systems.rocketmq.core.service_ports import HELLO
from harness.workers.agent_calls import foreign, remoting
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.canaries import Canaries
from harness.workers.remoting.commands import Command, encode
from harness.workers.remoting.headers import Header, Serialisation
from harness.workers.remoting.requests import Code, Request
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.rocketmq.fake_server import FakeServer, fake, said

REMOTING = "harness.workers.agent_calls.remoting:opened"


async def greet(host: str, port: int, timeout_s: float) -> dict[str, Any]:
    return await foreign.greet_by(host, port, HELLO.by, timeout_s)


LIMIT_S = 5.0
SHORT_S = 0.2


def name_server() -> Callable[[Request], Command | None]:
    """Keys and values, as a name server keeps them; to what it does not know it says nothing."""
    kept: dict[str, str] = {}

    def answer(request: Request) -> Command | None:
        match request.code:
            case Code.PUT_KV_CONFIG:
                kept[request.fields["key"]] = request.fields["value"]
                return None  # no caller awaits it
            case Code.GET_KV_CONFIG:
                value = kept.get(request.fields["key"])
                return said(value=value) if value else said(code=22)
            case Code.GET_NAMESRV_CONFIG:
                return said(b"listenPort=9876")
            case Code.GET_BROKER_CLUSTER_INFO:
                return said(b'{"brokerAddrTable":{}}')
        return None

    return answer


def broker() -> Callable[[Request], Command | None]:
    offsets: dict[tuple[str, str], int] = {}

    def answer(request: Request) -> Command | None:
        match request.code:
            case Code.UPDATE_CONSUMER_OFFSET:
                offsets[_queue(request)] = int(request.fields["commitOffset"])
                return None
            case Code.QUERY_CONSUMER_OFFSET:
                offset = offsets.get(_queue(request))
                return said(code=22) if offset is None else said(offset=offset)
            case Code.GET_BROKER_CONFIG:
                return said(b"x" * 1000)
        return said(code=3)

    return answer


def _queue(request: Request) -> tuple[str, str]:
    return request.fields["consumerGroup"], request.fields["queueId"]


def place(server: FakeServer) -> dict[str, Any]:
    return {"host": server.endpoint.address, "port": server.port, "timeout_s": LIMIT_S}


@in_a_loop
async def test_a_question_gets_whatever_the_server_says() -> None:
    async with fake("ns", name_server()) as server:
        reply = await remoting.ask(
            code=Code.GET_NAMESRV_CONFIG, fields={}, body="", **place(server)
        )
        assert (reply["code"], reply["body"]) == (0, "listenPort=9876")
    async with fake("broker", broker()) as server:
        reply = await remoting.ask(code=Code.GET_MAX_OFFSET, fields={}, body="", **place(server))
        assert reply["code"] == 3


@in_a_loop
async def test_a_server_that_says_nothing_in_time_is_silent() -> None:
    async with fake("mute", lambda _: None) as server:
        reply = await greet(server.endpoint.address, server.port, SHORT_S)
        assert (reply["answered"], reply["end"]) == (False, "")
        assert reply["detail"] == f"silent for {SHORT_S:g} s"
        with pytest.raises(CallError) as caught:
            await remoting.ask(server.endpoint.address, server.port, 28, {}, "", SHORT_S)
        assert caught.value.kind == "timeout"


@in_a_loop
async def test_brokers_and_name_servers_answer_a_greeting() -> None:
    for answer in (name_server(), broker()):
        async with fake("one", answer) as server:
            assert (await greet(**place(server)))["answered"]
            port = server.port
    reply = await greet("127.0.0.1", port, LIMIT_S)
    assert (reply["answered"], reply["end"]) == (False, REFUSED)


@pytest.mark.parametrize("kind", [name_server, broker])
@pytest.mark.parametrize("octets", [0, 5000])
@in_a_loop
async def test_probe_message_is_heard_by_the_other_canary_in_full(
    kind: Callable[[], Callable[[Request], Command | None]], octets: int
) -> None:
    canaries = Canaries()
    async with fake("one", kind()) as server:
        for name in ("proxied", "direct"):
            await canaries.open(name, queue="", speaks=True, by=REMOTING, **place(server))
        for ends in (("proxied", "direct"), ("direct", "proxied"), ("direct", "direct")):
            reply = await canaries.say(*ends, octets, 2, LIMIT_S)
            assert reply["answered"], reply
            assert reply["octets"] >= 2 * octets
        assert (await canaries.ask("direct", LIMIT_S))["answered"]
        for name in ("proxied", "direct"):
            await canaries.close(name)


@pytest.mark.parametrize("kind", [name_server, broker])
@in_a_loop
async def test_several_canaries_hear_their_own_replies_at_once(
    kind: Callable[[], Callable[[Request], Command | None]],
) -> None:
    canaries, names = Canaries(), ("proxied", "direct", "other")
    async with fake("one", kind()) as server:
        for name in names:
            await canaries.open(name, queue="", speaks=True, by=REMOTING, **place(server))
        said = (canaries.say(*pair, 2_000, 10, LIMIT_S) for pair in product(names, names))
        for reply in await asyncio.gather(*said):
            assert reply["answered"], reply
        for name in names:
            await canaries.close(name)


@in_a_loop
async def test_long_reply_arrives_partly_before_the_hundredth_request_byte() -> None:
    """Where so few pass either way, the way down has to be cut before the way up."""
    requests: list[Request] = []
    canaries, answer = Canaries(), broker()
    async with fake("one", answer) as server:
        for name in ("a", "b"):
            await canaries.open(name, queue="", by=REMOTING, **place(server))

        def first(request: Request) -> Command | None:
            requests.append(request)
            return answer(request)

        server.answer = first
        assert (await canaries.say("a", "b", 101, 1, LIMIT_S))["answered"]
        heard = [one.code for one in requests if one.code != Code.UPDATE_CONSUMER_OFFSET]
        assert heard[0] == Code.GET_BROKER_CONFIG
    shortest = encode(Command(Header(Code.GET_BROKER_CONFIG, 1), b"", Serialisation.ROCKETMQ))
    assert len(shortest) < 100


@in_a_loop
async def test_long_probe_of_a_terse_name_server_takes_few_requests() -> None:
    """Its configuration has 16 octets; the value that canaries keep there has 4,000."""
    requests: list[int] = []
    answer = name_server()

    def counted(request: Request) -> Command | None:
        requests.append(request.code)
        return answer(request)

    canaries = Canaries()
    async with fake("one", counted) as server:
        for name in ("a", "b"):
            await canaries.open(name, queue="", speaks=True, by=REMOTING, **place(server))
        opened = len(requests)
        reply = await canaries.say("a", "b", 250_000, 1, LIMIT_S)
        for name in ("a", "b"):
            await canaries.close(name)
    assert reply["answered"], reply
    assert reply["octets"] >= 250_000
    assert requests.count(Code.PUT_KV_CONFIG) == 2  # the long value, once, and the word
    assert len(requests) - opened < 100


@in_a_loop
async def test_request_for_a_long_value_has_under_a_hundred_bytes() -> None:
    """As that of a configuration: a link may pass no more than that."""
    sizes: list[int] = []
    canaries, answer = Canaries(), name_server()
    async with fake("one", answer) as server:
        await canaries.open("a", queue="", speaks=True, by=REMOTING, **place(server))

        def sized(request: Request) -> Command | None:
            header = Header(request.code, 1, fields=request.fields)
            sizes.append(len(encode(Command(header, request.body, Serialisation.ROCKETMQ))))
            return answer(request)

        server.answer = sized
        assert (await canaries.say("a", "a", 101, 1, LIMIT_S))["answered"]
        await canaries.close("a")
    assert sizes[1] < 100  # after the word that is put


@pytest.mark.parametrize("kind", [name_server, broker])
@in_a_loop
async def test_one_may_speak_to_itself_twice_at_once(
    kind: Callable[[], Callable[[Request], Command | None]],
) -> None:
    """As the direct one does, while words are timed both ways."""
    canaries = Canaries()
    async with fake("one", kind()) as server:
        await canaries.open("direct", queue="", speaks=True, by=REMOTING, **place(server))
        twice = (canaries.say("direct", "direct", 2000, 5, LIMIT_S) for _ in range(2))
        assert [reply["answered"] for reply in await asyncio.gather(*twice)] == [True, True]
        await canaries.close("direct")


@in_a_loop
async def test_probe_the_server_never_got_is_silence_for_the_other() -> None:
    answer = broker()
    canaries = Canaries()
    async with fake("deaf", answer) as server:
        for name in ("a", "b"):
            await canaries.open(name, queue="", by=REMOTING, **place(server))
        lost = Code.UPDATE_CONSUMER_OFFSET
        server.answer = lambda request: None if request.code == lost else answer(request)
        reply = await canaries.say("a", "b", 0, 1, SHORT_S)
        assert (reply["answered"], reply["end"]) == (False, "")


@in_a_loop
async def test_a_canary_records_its_end_before_it_is_queried() -> None:
    canaries = Canaries()
    async with fake("going", broker()) as server:
        await canaries.open("a", queue="", by=REMOTING, **place(server))
        for writer in server.connections:
            writer.close()
        await asyncio.sleep(SHORT_S)
        reply = await canaries.ask("a", LIMIT_S)
        assert (reply["answered"], reply["end"]) == (False, FIN)
