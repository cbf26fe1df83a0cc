"""Verification against a world that can be broken, and executors that do it, or do not."""

import asyncio
from dataclasses import dataclass

import pytest

from faults.compile import compile
from faults.executors.nothing import NothingExecutor
from faults.kinds import KINDS, PROXY
from faults.model import Armed, Executor, FaultError, ProcessState, Proof, Reply
from faults.performing import perform_all
from faults.verification import gone, held, held_limit_s
from tests.fault_world import ANSWERED, OPTIONS_OF, SILENT, World

HOSTS = ("rmq1", "rmq2", "rmq3")
SHORT_S = 0.3  # more than one look


def compiled(kind: str, returns: bool = True) -> Armed:
    options = OPTIONS_OF[kind]
    return compile(
        kind, "rmq1", "rmq1", "", HOSTS, ("p1", "p2"), 1, "run", returns, options=options
    )


async def verified(world: World, executor: Executor, armed: Armed) -> tuple[Proof, Proof]:
    await world.prepare(armed)
    await perform_all(executor, armed.actions)
    seen = await held(armed, world, SHORT_S)
    if armed.returns:
        await perform_all(executor, armed.undo)
    return seen, await gone(armed, world, SHORT_S)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_seen_to_hold_and_to_go(kind: str) -> None:
    world = World()
    seen, left = asyncio.run(verified(world, world, compiled(kind)))
    assert seen.ok, seen.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize("kind", KINDS)
def test_an_executor_that_does_nothing_is_never_believed(kind: str) -> None:
    seen, _ = asyncio.run(verified(World(), NothingExecutor(), compiled(kind)))
    assert not seen.ok
    assert seen.doubt


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "close"])  # over at once
def test_a_fault_that_was_not_undone_is_not_gone(kind: str) -> None:
    world, armed = World(), compiled(kind)

    async def left() -> Proof:
        await world.prepare(armed)
        await perform_all(world, armed.actions)
        return await gone(armed, world, SHORT_S)

    assert not asyncio.run(left()).ok


def test_a_host_that_needs_time_is_waited_for() -> None:
    world = World(slow_start=2)
    armed = compiled("kill")
    assert asyncio.run(gone(armed, world, 5.0)).ok


def test_a_fault_that_never_returns_needs_no_proof_of_its_end() -> None:
    world = World()
    seen, left = asyncio.run(verified(world, world, compiled("kill", returns=False)))
    assert seen.ok
    assert left.ok
    assert world.dead == {"rmq1": 137}


def test_a_broker_that_takes_its_time_to_end_is_waited_for() -> None:
    assert held_limit_s(compiled("stop")) > 2 * held_limit_s(compiled("kill"))


def test_a_frozen_process_whose_port_answers_is_not_believed() -> None:
    @dataclass
    class Loud(World):
        async def greets(self, host: str) -> Reply:
            return ANSWERED

    seen, _ = asyncio.run(verified(world := Loud(), world, compiled("freeze")))
    assert "its port is not silent" in seen.doubt


def test_the_end_of_a_freeze_is_not_believed_before_the_broker_answers() -> None:
    @dataclass
    class Deaf(World):
        async def greets(self, host: str) -> Reply:
            return SILENT

    seen, left = asyncio.run(verified(world := Deaf(), world, compiled("freeze")))
    assert seen.ok, seen.doubt
    assert "the process runs on, but: silent" in left.doubt


def test_the_end_of_a_hang_is_asked_on_fresh_canaries() -> None:
    world = World()
    asyncio.run(verified(world, world, compiled("hang")))
    assert world.canary_sets == 2


def by_proxy() -> Armed:
    return compile("partition", "rmq1", "rmq1", "", HOSTS, (), 1, "run", mechanism=PROXY)


class Proxied(World):
    """A world whose cuts are stalls: no packet filter has counted anything."""

    async def packets(self, host: str, chain: str) -> int | None:
        return None


def test_a_partition_by_proxy_is_seen_on_the_links_of_both_directions() -> None:
    world = Proxied()
    seen, left = asyncio.run(verified(world, world, by_proxy()))
    assert seen.detail.startswith("4 links silent")
    assert left.detail.endswith("reached: rmq1, rmq2, rmq3")


def test_a_partition_by_proxy_that_was_not_made_is_not_believed() -> None:
    seen, _ = asyncio.run(verified(Proxied(), NothingExecutor(local=True), by_proxy()))
    assert "not silent" in seen.doubt


def test_a_packet_filter_is_not_proved_by_silent_links() -> None:
    world = Proxied()
    seen, _ = asyncio.run(verified(world, world, compiled("partition")))
    assert "no chain" in seen.doubt


@dataclass
class BlindWorld(World):
    """A world whose engine does not answer."""

    async def process(self, host: str) -> ProcessState:
        raise FaultError(f"no engine to ask about {host}")


def test_a_question_that_fails_is_a_doubt() -> None:
    proof = asyncio.run(held(compiled("kill"), BlindWorld(), SHORT_S))
    assert proof == Proof(False, "", "no engine to ask about rmq1")
