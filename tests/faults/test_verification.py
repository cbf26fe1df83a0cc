"""Verification against a world that can be broken, and executors that do it, or do not."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from faults.core.actions import Action, AddToxic, Cut, Disable
from faults.core.mechanisms import PROXY, TOXIPROXY
from faults.core.model import (
    DOWN,
    Armed,
    Drops,
    Executor,
    FaultError,
    ProcessState,
    Proof,
    Replies,
    Reply,
    Words,
)
from faults.core.peers import Served, Serving, peer_link
from faults.core.shapes import SHAPES, ways
from faults.executors.nothing import NothingExecutor
from faults.kinds import KINDS
from faults.kinds.network.partition import PartitionOptions
from faults.performing import perform_all
from faults.rhythm import Rhythm
from faults.verification import gone, held, held_limit_s, lasted
from tests.rigs.clusters.fault_world import (
    ALARMS,
    CLIENTS,
    OPTIONS_OF,
    REFUSED,
    World,
    compiled_fault,
    like_erlang,
)
from tests.rigs.clusters.link_world import ANSWERED, SILENT
from tests.rigs.machine import virtual_time

HOSTS = ("rmq1", "rmq2", "rmq3")
SHORT_S = 0.3  # more than one look


def compiled(kind: str, returns: bool = True) -> Armed:
    options = OPTIONS_OF[kind]
    return compiled_fault(
        kind,
        "rmq1",
        HOSTS,
        ("p1", "p2"),
        returns=returns,
        options=options,
        clients=CLIENTS,
        serving=like_erlang(HOSTS),
        alarms=ALARMS,
    )


async def verified(world: World, executor: Executor, armed: Armed) -> tuple[Proof, Proof]:
    await world.prepare(armed)
    rhythm = Rhythm(executor, armed, await perform_all(executor, armed.actions))
    seen = await held(armed, world, SHORT_S)
    await rhythm.end()
    if armed.returns:
        await perform_all(executor, armed.undo)
    return seen, await gone(armed, world, SHORT_S)


def seen_and_gone(armed: Armed) -> None:
    """It comes and goes in its own rhythm, is seen to hold, and to be gone."""

    async def story(world: World) -> tuple[Proof, Proof]:
        rhythm = Rhythm(world, armed, await perform_all(world, armed.actions))
        seen = await held(armed, world, 5.0)
        await rhythm.end()
        await perform_all(world, armed.undo)
        return seen, await gone(armed, world, SHORT_S)

    seen, left = virtual_time.run(story(World()))
    assert seen.ok, seen.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_seen_to_hold_and_to_go(kind: str) -> None:
    world = World()
    seen, left = virtual_time.run(verified(world, world, compiled(kind)))
    assert seen.ok, seen.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize("kind", KINDS)
def test_an_executor_that_does_nothing_is_never_believed(kind: str) -> None:
    seen, _ = virtual_time.run(verified(World(), NothingExecutor(), compiled(kind)))
    assert not seen.ok
    assert seen.doubt


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "close"])  # over at once
def test_a_fault_that_was_not_undone_is_not_gone(kind: str) -> None:
    world, armed = World(), compiled(kind)

    async def left() -> Proof:
        await world.prepare(armed)
        await perform_all(world, armed.actions)
        return await gone(armed, world, SHORT_S)

    assert not virtual_time.run(left()).ok


def lasts(kind: str, ended_by: Callable[[World], object]) -> Proof:
    async def story(world: World, armed: Armed) -> Proof:
        await world.prepare(armed)
        await perform_all(world, armed.actions)
        assert (await held(armed, world, SHORT_S)).ok
        ended_by(world)
        return await lasted(armed, world)

    return virtual_time.run(story(World(), compiled(kind)))


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze", "reboot", "black_hole"])
def test_a_fault_that_nothing_ends_lasts_until_its_undo(kind: str) -> None:
    assert lasts(kind, lambda world: None).ok


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze", "reboot"])
def test_processes_that_came_back_by_themselves_end_a_fault(kind: str) -> None:
    def come_back(world: World) -> None:
        world.dead.clear()
        world.frozen.clear()

    assert "rmq1" in lasts(kind, come_back).doubt


def test_a_host_that_needs_time_is_waited_for() -> None:
    world = World(slow_start=2)
    armed = compiled("kill")
    assert virtual_time.run(gone(armed, world, 5.0)).ok


def test_a_fault_that_never_returns_needs_no_evidence_of_ending() -> None:
    world = World()
    seen, left = virtual_time.run(verified(world, world, compiled("kill", returns=False)))
    assert seen.ok
    assert left.ok
    assert world.dead == {"rmq1": 137}


def test_verification_waits_longer_for_stops_than_for_kills() -> None:
    assert held_limit_s(compiled("stop")) > 2 * held_limit_s(compiled("kill"))


def test_a_frozen_process_whose_port_answers_is_not_believed() -> None:
    @dataclass
    class Loud(World):
        async def greets(self, host: str) -> Reply:
            return ANSWERED

    seen, _ = virtual_time.run(verified(world := Loud(), world, compiled("freeze")))
    assert "its port is not silent" in seen.doubt


def test_a_freeze_has_not_ended_before_the_broker_answers() -> None:
    @dataclass
    class Deaf(World):
        async def greets(self, host: str) -> Reply:
            return SILENT

    seen, left = virtual_time.run(verified(world := Deaf(), world, compiled("freeze")))
    assert seen.ok, seen.doubt
    assert "the process runs on, but: silent" in left.doubt


def test_the_end_of_a_hang_is_checked_on_fresh_canaries() -> None:
    world = World()
    virtual_time.run(verified(world, world, compiled("hang")))
    assert world.canary_sets == 2


def by_proxy(kind: str = "partition") -> Armed:
    return compiled_fault(kind, "rmq1", HOSTS, mechanism=PROXY)


class Proxied(World):
    """A world whose cuts are stalls: no packet filter has counted anything.

    A connection is always taken; what is heard on it is what the far end may send.
    """

    async def drops(self, host: str, chain: str) -> Drops | None:
        return None

    async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
        cut = {way for ways in self.cuts.values() for way in ways}
        alone = host != peer and {host, peer} & set(self.isolated.values())
        return SILENT if (peer, host) in cut or alone else ANSWERED

    async def greets(self, host: str) -> Reply:
        return ANSWERED  # past every proxy, where the stall is

    async def entries(self, host: str) -> Replies:
        silent = host in self.isolated.values()
        return dict.fromkeys(("listener-1", "listener-2"), SILENT if silent else ANSWERED)


SHAPED = [
    (shape, count) for shape, of in SHAPES.items() for count in (3, 5) if count >= of.hosts_min
]


OF_THREE = [shape for shape, count in SHAPED if count == len(HOSTS)]


def shaped(shape: str, count: int, mechanism: str = "") -> Armed:
    hosts = tuple(f"rmq{number}" for number in range(1, count + 1))
    options = PartitionOptions(shape=shape)
    return compiled_fault(
        "partition",
        "rmq2",
        hosts,
        mechanism=mechanism,
        options=options,
        serving=like_erlang(hosts),
        alarms=ALARMS,
    )


@pytest.mark.parametrize("mechanism", ["", PROXY, TOXIPROXY])
@pytest.mark.parametrize(("shape", "count"), SHAPED)
def test_partitions_of_every_shape_are_verified_active_and_ended(
    shape: str, count: int, mechanism: str
) -> None:
    world = Proxied() if mechanism == PROXY else World()
    seen, left = virtual_time.run(verified(world, world, shaped(shape, count, mechanism)))
    assert seen.ok, seen.doubt
    assert left.ok, left.doubt


@dataclass
class Cutter(World):
    """An executor whose cuts have another shape than the requested one."""

    really: str = "one"

    def change(self, action: Action) -> None:
        if isinstance(action, Cut):
            action = Cut(ways(self.really, "rmq2", ("rmq1", "rmq2", "rmq3")), action.chain)
        super().change(action)


@pytest.mark.parametrize("mechanism", ["", PROXY])
@pytest.mark.parametrize("meant_shape", OF_THREE)
@pytest.mark.parametrize("really", OF_THREE)
def test_a_partition_of_another_shape_is_not_believed(
    meant_shape: str, really: str, mechanism: str
) -> None:
    meant, made = (set(ways(shape, "rmq2", HOSTS)) for shape in (meant_shape, really))
    world = (
        type("Both", (Cutter, Proxied), {})(really=really) if mechanism else Cutter(really=really)
    )
    seen, _ = virtual_time.run(verified(world, world, shaped(meant_shape, 3, mechanism)))
    assert seen.ok == (meant == made), seen


@pytest.mark.parametrize("meant_shape", OF_THREE)
@pytest.mark.parametrize("really", OF_THREE)
def test_links_stalled_in_another_shape_are_not_believed(meant_shape: str, really: str) -> None:
    meant, made = (shaped(shape, 3, TOXIPROXY) for shape in (meant_shape, really))
    world = World()
    virtual_time.run(perform_all(world, made.actions))
    seen = virtual_time.run(held(meant, world, SHORT_S))
    alike = set(ways(meant_shape, "rmq2", HOSTS)) == set(ways(really, "rmq2", HOSTS))
    assert seen.ok == alike, seen


NAME_SERVER = "name-server"
SERVED = {
    "rkt1": (
        Served((9876,), 9876, NAME_SERVER, dials=False),
        Served((10909, 10911, 10912), 10911, "broker-a-0"),
    ),
    "rkt2": (
        Served((9877,), 9877, NAME_SERVER, dials=False),
        Served((10919, 10921, 10922), 10921, "broker-b-0"),
    ),
    "rkt3": (Served((10929, 10931, 10932), 10931, "broker-a-1"),),
}
SERVING = Serving(by_host=SERVED, renewed=True)


def of_processes(kind: str, shape: str = "one", target: str = "rkt1") -> Armed:
    """A fault on links of hosts with several processes each."""
    own = OPTIONS_OF[kind]
    options = replace(own, shape=shape) if isinstance(own, PartitionOptions) else own
    return compiled_fault(
        kind, target, tuple(SERVED), mechanism=TOXIPROXY, options=options, serving=SERVING
    )


@pytest.mark.parametrize("shape", OF_THREE)
def test_a_partition_of_a_host_is_verified_for_each_process(shape: str) -> None:
    world = World()
    seen, left = virtual_time.run(verified(world, world, of_processes("partition", shape)))
    assert seen.ok, seen.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize(
    ("kind", "doubt"), [("partition", "not silent"), ("slow_peers", "nothing that took")]
)
@pytest.mark.parametrize("port", [9876, 10911])
def test_a_process_that_is_still_reachable_disproves_the_cut(
    kind: str, doubt: str, port: int
) -> None:
    class Missing(World):
        async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
            missed = (host, peer) == ("rkt2", f"rkt1:{port}")
            return ANSWERED if missed else await super().reach(host, peer, wait_s)

    seen, _ = virtual_time.run(verified(world := Missing(), world, of_processes(kind)))
    assert doubt in seen.doubt
    assert f"rkt2 -> rkt1:{port}" in seen.doubt


@pytest.mark.parametrize("kind", ["partition", "flap", "slow_peers"])
@pytest.mark.parametrize("process", [NAME_SERVER, "broker-a-0"])
def test_a_fault_of_one_process_leaves_the_others_reachable(kind: str, process: str) -> None:
    armed = of_processes(kind, target=f"rkt1/{process}")
    links: set[str] = set()
    for action in armed.actions:
        assert isinstance(action, AddToxic | Disable), action
        links |= set(action.proxies)
    leading = {link for link in links if ".rkt1." in link.partition("peer.rkt")[2]}
    ports = {"9876"} if process == NAME_SERVER else {"10909", "10911", "10912"}
    assert {link.rpartition(".")[2] for link in leading} == ports
    # A name server dials no host; a broker every other host.
    dialled = {link.split(".")[2] for link in links - leading}
    assert dialled == (set() if process == NAME_SERVER else {"rkt2", "rkt3"})

    seen_and_gone(armed)


def test_isolating_a_whole_host_does_not_prove_one_process_isolated() -> None:
    world, armed = World(), of_processes("partition", target=f"rkt1/{NAME_SERVER}")
    virtual_time.run(perform_all(world, of_processes("partition").actions))
    seen = virtual_time.run(held(armed, world, SHORT_S))
    assert "more is cut than was meant: " in seen.doubt


def test_a_silent_link_to_a_down_broker_proves_no_partition() -> None:
    class Down(World):
        async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
            return REFUSED if host == peer else await super().reach(host, peer, wait_s)

    seen, _ = virtual_time.run(verified(world := Down(), world, shaped("one", 3, TOXIPROXY)))
    assert "no host listens beyond the cut" in seen.doubt


def test_a_flap_of_links_is_verified_closed_and_open_repeatedly() -> None:
    armed = compiled_fault(
        "flap",
        "rmq2",
        HOSTS,
        mechanism=TOXIPROXY,
        options=OPTIONS_OF["flap"],
        serving=like_erlang(HOSTS),
        alarms=ALARMS,
    )

    seen_and_gone(armed)


def test_slow_peer_links_by_proxy_are_measured_near_the_dialler() -> None:
    class Speaking(World):
        """Who is dialled speaks first."""

        async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
            return self.links.say(peer_link(host, peer), Words(DOWN))

    armed = compiled_fault(
        "slow_peers", "rmq1", HOSTS, mechanism=PROXY, options=OPTIONS_OF["slow_peers"]
    )
    seen, left = virtual_time.run(verified(world := Speaking(), world, armed))
    assert seen.detail.startswith("on 4 ways a word took 0.201 to 0.201 s")
    assert left.ok, left.doubt


def test_more_slow_links_than_were_meant_are_not_believed() -> None:
    world, armed = World(), compiled("slow_peers")
    other = compiled_fault(
        "slow_peers",
        "rmq2",
        HOSTS,
        window=2,
        options=OPTIONS_OF["slow_peers"],
        serving=like_erlang(HOSTS),
        alarms=ALARMS,
    )
    virtual_time.run(perform_all(world, other.actions))
    seen, _ = virtual_time.run(verified(world, world, armed))
    assert "more is slow than was meant: rmq2 -> rmq3" in seen.doubt


def test_a_partition_by_proxy_is_verified_in_both_directions() -> None:
    world = Proxied()
    seen, left = virtual_time.run(verified(world, world, by_proxy()))
    assert seen.detail.startswith("4 links silent")
    assert left.detail.endswith("reached: rmq1, rmq2, rmq3")


def test_a_partition_by_proxy_that_was_not_made_is_unverified() -> None:
    seen, _ = virtual_time.run(verified(Proxied(), NothingExecutor(local=True), by_proxy()))
    assert "not silent" in seen.doubt


def test_a_black_hole_by_proxy_silences_peers_and_clients() -> None:
    world = Proxied()
    seen, left = virtual_time.run(verified(world, world, by_proxy("black_hole")))
    assert "no answer for 2 s: 4 between hosts, 2 of clients" in seen.detail
    assert left.ok, left.doubt


def test_a_host_that_ended_is_in_no_black_hole() -> None:
    world = World(dead={"rmq1": 137})
    seen, left = virtual_time.run(verified(world, world, compiled("black_hole")))
    assert "the process does not run" in seen.doubt
    assert left.ok, left.doubt  # its refusals come through: that it ended is no effect of ours


def test_a_black_hole_that_clients_see_through_is_not_believed() -> None:
    class Leaky(World):
        async def entries(self, host: str) -> Replies:
            return {"listener-1": SILENT, "listener-2": ANSWERED}

    seen, _ = virtual_time.run(verified(world := Leaky(), world, compiled("black_hole")))
    assert "not silent to clients: listener-2" in seen.doubt


def test_a_packet_filter_is_not_proved_by_silent_links() -> None:
    world = Proxied()
    seen, _ = virtual_time.run(verified(world, world, compiled("partition")))
    assert "no chain" in seen.doubt


@dataclass
class BlindWorld(World):
    """A world whose engine does not answer."""

    async def process(self, host: str) -> ProcessState:
        raise FaultError(f"no engine to ask about {host}")


def test_a_question_that_fails_is_a_doubt() -> None:
    proof = virtual_time.run(held(compiled("kill"), BlindWorld(), SHORT_S))
    assert proof == Proof(False, "", "no engine to ask about rmq1")


def test_a_frozen_client_that_answers_is_not_believed() -> None:
    @dataclass
    class Loud(World):
        async def answers(self, client: str) -> Reply:
            return ANSWERED

    seen, _ = virtual_time.run(verified(world := Loud(), world, compiled("client_freeze")))
    assert "frozen, but not silent: consumer-1: answered; publisher-1" in seen.doubt


@pytest.mark.parametrize("kind", ["freeze", "black_hole", "partition", "flap"])
def test_a_fault_has_ended_although_the_broker_refuses_clients_afterwards(kind: str) -> None:
    """A paused node refuses: that is what the broker does, and no effect of the fault."""
    world = World()

    async def left() -> Proof:
        armed = compiled(kind)
        seen = await undone(world, armed)
        assert seen.ok, seen.doubt
        world.closed = set(HOSTS)
        return await gone(armed, world, SHORT_S)

    proof = virtual_time.run(left())
    assert proof.ok, proof.doubt


@pytest.mark.parametrize("kind", ["kill", "stop", "reboot"])
def test_an_ended_process_has_returned_once_it_answers(kind: str) -> None:
    world, armed = World(slow_start=1_000), compiled(kind)

    async def left() -> Proof:
        await undone(world, armed)
        return await gone(armed, world, SHORT_S)

    assert "refused" in virtual_time.run(left()).doubt


@pytest.mark.parametrize("kind", KINDS)
def test_no_fault_ends_by_what_the_cluster_lists(kind: str) -> None:
    class Unlisted(World):
        async def serves(self, host: str) -> Reply:
            return Reply(False, 0.01, f"it answers, but the cluster does not list {host}")

    world = Unlisted()
    seen, left = virtual_time.run(verified(world, world, compiled(kind)))
    assert seen.ok, seen.doubt
    assert left.ok, left.doubt


async def undone(world: World, armed: Armed) -> Proof:
    """Play a fault to the end of its undo, and return whether it was verified active."""
    await world.prepare(armed)
    rhythm = Rhythm(world, armed, await perform_all(world, armed.actions))
    seen = await held(armed, world, 5.0)
    await rhythm.end()
    await perform_all(world, armed.undo)
    return seen
