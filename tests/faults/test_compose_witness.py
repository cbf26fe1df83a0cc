"""The parts of the compose witness that ask the agent; the rest is looked at with containers."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from docker import DockerClient

from faults.core.model import UP, Armed, FaultError, Reply, Words
from faults.core.replies import SILENCE_S, silent
from faults.executors.canaries import WAIT_S
from faults.executors.compose import ComposeExecutor
from faults.executors.compose_witness import ComposeWitness, _attempted
from faults.executors.once import _value
from faults.executors.service_ports import Greeter, Greeting, ServicePorts
from tests.rigs.clusters.fault_world import compiled_fault

NO_ENGINE = cast(DockerClient, None)


class AgentGone(Exception):
    """What a harness's agent may raise; faults cannot know it."""


@dataclass
class FakeAgent:
    """AgentCalls that answer from a table of call names."""

    values: dict[str, dict[str, Any]]
    gone: bool = False
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        assert timeout_s > 0
        self.requests.append((name, arguments))
        if self.gone:
            raise AgentGone("the agent's process ended")
        return self.values[name]


ONE = ServicePorts(
    hello=Greeting(says="HELO", begins="HOLA"),
    canaries="birds:canary",
    peer_word="?",
    usual=5672,
    to_peers=25672,
    ports={},
)


def witness(agent: FakeAgent, listed: bool | Exception = True) -> ComposeWitness:
    async def lists(host: str) -> bool:
        assert host == "rmq1"
        if isinstance(listed, Exception):
            raise listed
        return listed

    ports = {"a": 1001, "b": 1002}
    return ComposeWitness(
        NO_ENGINE, "p", agent, lambda name: ("toxiproxy", ports[name]), lists, ONE, (AgentGone,)
    )


def hang() -> Armed:
    return compiled_fault("hang", "rmq1", ("rmq1", "rmq2"), ("a", "b"))


ANSWERED = {"answered": True, "seconds": 0.1, "detail": "answered"}


@pytest.mark.parametrize(
    ("listed", "answered", "detail"),
    [
        (True, True, "answered"),
        (False, False, "does not list"),
        (AgentGone("no API"), False, "no host lists it: no API"),
    ],
)
def test_a_broker_serves_if_it_answers_and_is_listed(
    listed: bool | Exception, answered: bool, detail: str
) -> None:
    reply = asyncio.run(witness(FakeAgent({"greet": ANSWERED}), listed).serves("rmq1"))
    assert reply.answered == answered
    assert detail in reply.detail


def test_a_broker_that_is_silent_is_not_looked_up() -> None:
    said = {"answered": False, "seconds": 3.0, "detail": "silent for 3 s"}
    unlisted = AssertionError("it was asked")
    reply = asyncio.run(witness(FakeAgent({"greet": said}), unlisted).serves("rmq1"))
    assert reply == Reply(False, 3.0, "silent for 3 s")


def test_a_hang_gets_one_canary_per_link_and_one_direct() -> None:
    agent = FakeAgent({"canary_open": {}})
    asyncio.run(witness(agent).prepare(hang()))
    opened = [arguments for _, arguments in agent.requests]
    ways = {(each["host"], each["port"], each["queue"]) for each in opened}
    assert ways == {("toxiproxy", 1001, ""), ("toxiproxy", 1002, ""), ("rmq1", 5672, "")}
    assert len({each["canary"] for each in opened}) == 3
    assert {each["by"] for each in opened} == {"birds:canary"}


def test_every_canary_request_lasts_long_enough_to_prove_silence() -> None:
    agent = FakeAgent({"canary_ask": ANSWERED})
    replies = asyncio.run(witness(agent).canaries(hang()))
    assert replies.keys() == {"a", "b", "direct"}


def test_an_agent_error_becomes_a_fault_error() -> None:
    with pytest.raises(FaultError, match="process ended"):
        asyncio.run(witness(FakeAgent({}, gone=True)).prepare(hang()))


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("0 10.00 10.01\n", (True, False)),
        ("124 10.00 12.51\n", (False, True)),
        ("bash: connect: Connection refused\n1 10.00 10.00\n", (False, False)),
    ],
)
def test_an_attempt_is_read_with_its_time(text: str, reply: tuple[bool, bool]) -> None:
    read = _attempted(text, "rmq1 -> rmq2")
    assert (read.answered, silent(read)) == reply


def test_a_refusal_is_reported_with_the_shells_words() -> None:
    text = "bash: connect: Connection refused\n1 10.00 10.00\n"
    assert "Connection refused" in _attempted(text, "rmq1 -> rmq2").detail


@pytest.mark.parametrize("text", ["", "no such container", "x y z"])
def test_an_attempt_that_did_not_happen_is_an_error(text: str) -> None:
    with pytest.raises(FaultError, match="rmq1 -> rmq2"):
        _attempted(text, "rmq1 -> rmq2")


def test_a_one_shot_agent_is_read_from_its_last_line() -> None:
    assert _value("clock", 'warning\n{"say": "answer", "id": null, "value": {"a": 1}}') == {"a": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"say": "error", "id": null, "kind": "proxy", "text": "409"}', "clock: proxy: 409"),
        ("Traceback\nImportError: x", "ImportError: x"),
        ("", "said nothing"),
        ("[]", r"\[\]"),
    ],
)
def test_a_one_shot_agent_that_fails_says_why(text: str, reason: str) -> None:
    with pytest.raises(FaultError, match=reason):
        _value("clock", text)


@pytest.mark.parametrize(("boot_id", "issued"), [("this", 11), ("another", None)])
def test_a_stall_uses_the_agents_times_if_clocks_are_shared(
    boot_id: str, issued: int | None
) -> None:
    here = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    agent = FakeAgent(
        {
            "clock": {"boot_id": here if boot_id == "this" else boot_id},
            "toxic_add": {"issued_ns": 11, "returned_ns": 12},
        }
    )
    (action,) = hang().actions
    receipt = asyncio.run(ComposeExecutor(NO_ENGINE, "p", agent).perform(action))
    assert (receipt.issued_ns == 11) == (issued == 11)
    name, arguments = agent.requests[-1]
    assert name == "toxic_add"
    assert arguments == {
        "proxies": ["a", "b"],
        "toxic": hang().mark,
        "type": "bandwidth",
        "streams": ["upstream", "downstream"],
        "attributes": {"rate": 0},
    }


def test_witnesses_wait_longer_than_the_silence_that_proves() -> None:
    assert WAIT_S > SILENCE_S


SEVERAL = ServicePorts(
    hello=Greeter(by="manners:greeted"),
    canaries="birds:canary",
    peer_word=None,
    usual=10911,
    to_peers=None,
    ports={"rmq1": (9876, 10911), "rmq2": (10921,)},
)


@dataclass
class FakeServers(FakeAgent):
    """Greetings are answered by port."""

    mute: tuple[int, ...] = ()

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        said = await super().call(name, timeout_s, **arguments)
        return {**said, "answered": arguments.get("port") not in self.mute}


def witness_of_several(agent: FakeAgent) -> ComposeWitness:
    async def lists(_host: str) -> bool:
        return True

    ways = {"name-server": ("10.1.1.210", 9876), "broker": ("10.1.1.210", 10911)}
    return ComposeWitness(NO_ENGINE, "p", agent, ways.__getitem__, lists, SEVERAL, (AgentGone,))


@pytest.mark.parametrize("mute", [(), (9876,), (10911,), (9876, 10911)])
def test_a_host_answers_only_if_all_its_processes_do(mute: tuple[int, ...]) -> None:
    agent = FakeServers({"greet_by": ANSWERED}, mute=mute)
    reply = asyncio.run(witness_of_several(agent).serves("rmq1"))
    assert reply.answered is (not mute)
    assert {arguments["port"] for _, arguments in agent.requests} == {9876, 10911}


def test_link_canaries_stand_beside_direct_ones_to_the_same_process() -> None:
    said = {"answered": True, "seconds": 0.1, "detail": "answered", "octets": 0}
    agent = FakeAgent({"canary_open": {}, "canary_say": said, "canary_close": {}})
    watching = witness_of_several(agent)
    armed = compiled_fault("hang", "rmq1", ("rmq1", "rmq2"), ("name-server", "broker"))

    async def story() -> dict[str, Reply]:
        await watching.prepare(armed)
        heard = await watching.words(armed, Words(UP))
        await watching.dismiss(armed)
        return heard

    heard = asyncio.run(story())
    assert set(heard) == {"name-server", "broker", "direct"}
    opened = {
        arguments["canary"].removeprefix(f"{armed.mark}."): (arguments["host"], arguments["port"])
        for name, arguments in agent.requests
        if name == "canary_open"
    }
    assert opened == {
        "name-server": ("10.1.1.210", 9876),
        "broker": ("10.1.1.210", 10911),
        "direct 9876": ("rmq1", 9876),
        "direct 10911": ("rmq1", 10911),
    }
    pairs = {
        (arguments["canary"].rpartition(".")[2], arguments["to"].rpartition(".")[2])
        for name, arguments in agent.requests
        if name == "canary_say"
    }
    assert {("name-server", "direct 9876"), ("broker", "direct 10911")} <= pairs
    closed = [arguments["canary"] for name, arguments in agent.requests if name == "canary_close"]
    assert len(set(closed)) == 4
