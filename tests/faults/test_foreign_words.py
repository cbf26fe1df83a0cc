"""Words of a broker's own protocol: its greeting, and commands that a fault sends."""

from pathlib import Path
from typing import Any

import pytest

from faults.core.actions import Say
from faults.core.model import FaultError
from faults.executors import local_processes
from faults.executors.canaries import Canaries, greets
from faults.executors.commands import Commands
from faults.executors.core import peer_canary
from faults.executors.external import ExternalExecutor
from faults.executors.local import LocalExecutor
from faults.executors.ports import Agent
from faults.executors.service_ports import Greeter, Greeting, Greets, ServicePorts
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.machine.loops import in_a_loop

HELLO = Greeting(says="HELO\n", begins="HOLA")
WORDS = Say("hole1", "stall\n", done="stalled")
UNDO = Say("hole1", "flow\n", done="flowing", needed=False)


def service_ports(hello: Greeting | Greeter) -> ServicePorts:
    return ServicePorts(
        hello=hello, canaries=None, peer_word=None, usual=7400, to_peers=None, ports={}
    )


class Calls:
    """AgentCalls that answer all the same; `text`: None if no answer comes."""

    def __init__(self, text: str | None = "stalled, as told") -> None:
        self.text = text
        self.made: list[tuple[str, dict[str, Any]]] = []

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        self.made.append((name, arguments))
        if self.text is None:
            raise FaultError("no answer")
        return {"text": self.text, "answered": True, "seconds": 0.0, "detail": "answered"}


def executor(agent: Calls, spare: Calls) -> LocalExecutor:
    return LocalExecutor("c", lambda _: None, lambda host: (f"at {host}", 7400), agent, spare)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that are found of the host."""
    found = ["one"]
    monkeypatch.setattr(local_processes, "of", lambda *_: tuple(found))
    return found


def test_a_door_says_how_it_is_greeted_whatever_its_protocol() -> None:
    assert service_ports(HELLO).greeting == Greets("greet", {"says": "HELO\n", "begins": "HOLA"})
    by = Greeter(by="manners:greeted")
    assert service_ports(by).greeting == Greets("greet_by", {"by": "manners:greeted"})


@in_a_loop
async def test_a_configured_greeting_is_sent_to_the_brokers_port() -> None:
    calls = Calls()
    await greets(Agent(calls, ()), ("127.1.1.11", 7400), service_ports(HELLO).greeting)
    where = {"host": "127.1.1.11", "port": 7400}
    assert calls.made == [("greet", {**where, "says": "HELO\n", "begins": "HOLA"})]


@in_a_loop
async def test_no_canary_is_sent_in_an_unknown_protocol() -> None:
    calls = Calls()
    canaries = Canaries(Agent(calls, ()), lambda _: ("127.1.1.100", 1), service_ports(HELLO))
    armed = compiled_fault("hang", "hole1", ("hole1", "hole2"), ("link",))
    with pytest.raises(FaultError, match="no canary speaks"):
        await canaries.open(armed, ("127.1.1.11", 7400))
    assert not calls.made


def test_no_peer_word_is_invented_for_a_foreign_protocol() -> None:
    with pytest.raises(FaultError, match="declares no word"):
        peer_canary.command("hole2", 1.0, 7401, service_ports(HELLO).peer_word)


@in_a_loop
async def test_a_fault_command_must_be_answered_as_done() -> None:
    agent = Calls()
    receipt = await executor(agent, agent).perform(WORDS)
    assert receipt.issued_ns <= receipt.returned_ns
    assert agent.made == [("words_ask", {"host": "at hole1", "port": 7400, "says": "stall\n"})]
    with pytest.raises(FaultError, match="it said 'no such word'"):
        await executor(Calls("no such word"), agent).perform(WORDS)


@in_a_loop
async def test_words_that_undo_are_not_needed_where_no_process_runs(runs: list[str]) -> None:
    runs.clear()
    agent = Calls("flowing")
    await executor(agent, agent).perform(UNDO)
    assert not agent.made
    with pytest.raises(FaultError, match="no answer"):
        await executor(Calls(None), agent).perform(WORDS)


@in_a_loop
async def test_an_undo_depends_on_no_agent_that_may_be_lost(runs: list[str]) -> None:
    spare = Calls("flowing")
    await executor(Calls(None), spare).perform(UNDO)
    assert len(spare.made) == 1
    with pytest.raises(FaultError, match="no answer"):
        await executor(Calls(None), Calls(None)).perform(UNDO)
    with pytest.raises(FaultError, match="no answer"):
        await executor(Calls(None), spare).perform(WORDS)


@in_a_loop
async def test_brokers_that_are_not_ours_get_no_words(tmp_path: Path) -> None:
    agent = Calls()
    external = ExternalExecutor("c", Commands("c", {}, tmp_path / "log"), agent, agent)
    with pytest.raises(FaultError, match="not on a cluster that is not ours"):
        await external.perform(WORDS)
