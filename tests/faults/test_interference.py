"""Two faults at once: each is verified by what the other one leaves visible."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import pytest

from faults.core.exclusive import clash, things
from faults.core.interference import interference, visible
from faults.core.mechanisms import PACKET_FILTER, PROXY
from faults.core.model import Armed, FaultError, Interference, Proof, Replies, Reply, Words
from faults.core.options import FaultOptions
from faults.core.replies import DIRECT
from faults.core.targets import CLIENT_LINK
from faults.core.witness import Witness
from faults.kinds import KINDS
from faults.kinds.alarms.alarm import AlarmOptions
from faults.kinds.alarms.rules import alarm_gone
from faults.kinds.client_links.slow import Slowed, SlowOptions
from faults.kinds.network.before import clients_enter
from faults.kinds.network.isolation_rules import IsolationEvidence, links_isolated
from faults.kinds.peer_links.slow_peers import SlowPeersOptions
from faults.performing import perform_all
from faults.verification import gone, held
from tests.rigs.clusters.fault_world import ALARMS, HOSTS, OPTIONS_OF, World, compiled_fault
from tests.rigs.clusters.link_world import ANSWERED, CLOSED, SILENT

SHORT_S = 0.3


def armed(window: int, kind: str, host: str, options: FaultOptions | None = None) -> Armed:
    links = ("p1",) if KINDS[kind].applies_to == CLIENT_LINK else ()
    return compiled_fault(
        kind,
        host,
        HOSTS,
        links,
        window=window,
        mechanism=PACKET_FILTER,
        options=options,
        alarms=ALARMS,
    )


def beside(own: Armed, *others: Armed) -> Armed:
    return replace(own, meanwhile=lambda: interference(own, others))


def seen(own: Armed, *others: Armed) -> tuple[Proof, Proof]:
    """What is seen of a fault beside others: while it is active, and when it was undone first."""

    async def story() -> tuple[Proof, Proof]:
        world, looked = World(), beside(own, *others)
        for one in (*others, own):
            await perform_all(world, one.actions)
        active = await held(looked, world, SHORT_S)
        await perform_all(world, own.undo)
        return active, await gone(looked, world, SHORT_S)

    return asyncio.run(story())


@pytest.mark.parametrize("other", ["freeze", "kill", "black_hole", "partition"])
@pytest.mark.parametrize("own", ["partition", "black_hole"])
def test_a_cut_is_verified_beside_a_fault_of_another_host(own: str, other: str) -> None:
    active, ended = seen(armed(1, own, "rmq1"), armed(2, other, "rmq3"))
    assert active.ok, active.doubt
    assert ended.ok, ended.doubt


@pytest.mark.parametrize("other", ["freeze", "kill"])
def test_a_cut_is_verified_while_its_own_broker_is_down(other: str) -> None:
    active, ended = seen(armed(1, "partition", "rmq1"), armed(2, other, "rmq1"))
    assert active.ok, active.doubt
    assert ended.ok, ended.doubt


@pytest.mark.parametrize("other", ["hang", "refuse", "reset", "cut_after"])
def test_a_link_closed_by_another_fault_is_not_evidence(other: str) -> None:
    others = [armed(2, other, "rmq1", OPTIONS_OF[other])]
    assert interference(armed(1, "black_hole", "rmq1"), others).links == {"p1"}
    others = [armed(2, "slow", "rmq1", SlowOptions(latency_s=1)), armed(3, "partition", "rmq1")]
    assert not interference(armed(1, "black_hole", "rmq1"), others).links


@pytest.mark.parametrize("other", ["refuse", "kill"])
def test_a_black_hole_is_verified_although_another_fault_blocks_clients(other: str) -> None:
    class Ways:
        async def entries(self, host: str) -> Replies:
            assert host == "rmq1"
            return {"p1": SILENT}

    own = armed(1, "black_hole", "rmq1")
    asyncio.run(clients_enter(beside(own, armed(2, other, "rmq1")), cast(Witness, Ways())))
    with pytest.raises(FaultError, match="p1: "):
        asyncio.run(clients_enter(beside(own), cast(Witness, Ways())))


@pytest.mark.parametrize("own", ["black_hole", "reboot"])
def test_a_refusing_proxy_of_another_fault_is_no_evidence_of_contact(own: str) -> None:
    class Refusing(World):
        async def entries(self, host: str) -> Replies:
            return {"p1": CLOSED}

    async def doubt(*others: Armed) -> str:
        world, looked = Refusing(), beside(armed(1, own, "rmq1"), *others)
        await perform_all(world, looked.actions)
        return (await held(looked, world, SHORT_S)).doubt

    assert "p1: " in asyncio.run(doubt())
    assert not asyncio.run(doubt(armed(2, "refuse", "rmq1")))


def test_an_alarm_beside_another_hosts_alarm_begins_and_ends_by_itself() -> None:
    active, ended = seen(armed(1, "alarm", "rmq1"), armed(2, "alarm", "rmq3"))
    assert active.ok, active.doubt
    assert ended.ok, ended.doubt
    assert "no memory alarm but that of rmq3, by another fault" in ended.detail


def test_only_another_faults_alarm_of_this_resource_is_expected() -> None:
    said = {"rmq1": {"rmq1": False, "rmq2": True, "rmq3": True}}
    assert "still a disk alarm of rmq2" in alarm_gone("rmq1", "disk", said, {"rmq3"}).doubt
    own = {"rmq1": {"rmq1": True, "rmq3": True}}
    assert "still a disk alarm of rmq1" in alarm_gone("rmq1", "disk", own, {"rmq1"}).doubt
    others = [armed(2, "alarm", "rmq3", AlarmOptions(resource="memory"))]
    assert interference(armed(1, "alarm", "rmq1"), others).alarms == {("rmq3", "memory")}


def test_a_cut_that_another_one_hides_altogether_is_not_verified() -> None:
    active, _ = seen(armed(1, "partition", "rmq1"), armed(2, "black_hole", "rmq1"))
    assert active.doubt == "another active fault closes every way that this one closes"


def test_a_cut_beside_another_fault_still_needs_its_own_evidence() -> None:
    """Refuse the proof of an executor that does nothing while another cut is active."""

    async def story() -> Proof:
        own, other = armed(1, "partition", "rmq1"), armed(2, "partition", "rmq3")
        world = World()
        await perform_all(world, other.actions)
        return await held(beside(own, other), world, SHORT_S)

    assert "no chain of ours" in asyncio.run(story()).doubt


@dataclass
class Opening(World):
    """Links between two hosts are silent, or late. With the first look at one something opens."""

    met: Reply = SILENT
    opens: Callable[[], None] = lambda: None

    async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
        if host == peer:
            return ANSWERED
        self.opens()
        return self.met

    async def entries(self, host: str) -> Replies:
        return {"p1": SILENT}


@pytest.mark.parametrize("kind", ["partition", "black_hole", "slow_peers"])
def test_a_link_that_another_fault_begins_to_hide_proves_nothing(kind: str) -> None:
    met = Reply(True, 0.3, "late") if kind == "slow_peers" else SILENT
    two, options = ("rmq1", "rmq2"), OPTIONS_OF[kind]
    own, other = (
        compiled_fault(kind, host, two, window=window, mechanism=PROXY, options=options)
        for window, host in enumerate(two, 1)
    )
    active: list[Armed] = []
    looked = replace(own, meanwhile=lambda: interference(own, active))
    alone, joined = Opening(met=met), Opening(met=met, opens=lambda: active.append(other))
    assert asyncio.run(held(looked, alone, 0)).ok
    assert "began to hide" in asyncio.run(held(looked, joined, 0)).doubt


def test_links_of_clients_that_another_fault_hides_are_not_seen_to_be_free() -> None:
    own = compiled_fault("black_hole", "rmq1", HOSTS, mechanism=PROXY)
    dead = armed(2, "kill", "rmq1")
    hidden = asyncio.run(gone(beside(own, dead), World(), 0))
    assert hidden.doubt == "another active fault closes every way that this one closes"
    assert asyncio.run(gone(beside(own), World(), 0)).ok


@pytest.mark.parametrize("kind", ["kill", "stop", "reboot"])
def test_an_alarm_and_the_end_of_its_broker_have_one_thing(kind: str) -> None:
    alarm = things(KINDS["alarm"], ("rmq1",), "memory", (), ())
    assert clash(alarm, things(KINDS[kind], ("rmq1",), "", (), ()))
    assert not clash(alarm, things(KINDS[kind], ("rmq2",), "", (), ()))
    assert not clash(alarm, things(KINDS["freeze"], ("rmq1",), "", (), ()))


def test_a_handshake_needs_both_directions_and_a_greeting_one() -> None:
    closed = Interference(closed=frozenset({("rmq1", "rmq2")}))
    by_filter = replace(armed(1, "partition", "rmq1"), meanwhile=lambda: closed)
    by_proxy = replace(by_filter, mechanism=PROXY)
    ways = (("rmq1", "rmq2"), ("rmq2", "rmq1"), ("rmq1", "rmq3"))
    assert visible(by_filter, ways) == (("rmq1", "rmq3"),)
    assert visible(by_proxy, ways) == (("rmq2", "rmq1"), ("rmq1", "rmq3"))


def test_slow_links_add_their_round_trips_to_query_limits() -> None:
    slow = armed(2, "slow", "rmq1", SlowOptions(latency_s=0.5, rate_kb=2))
    found = interference(armed(1, "hang", "rmq1"), [slow])
    assert (found.round_trip_s, found.narrow_s) == (1.0, 2.0)
    assert interference(armed(1, "partition", "rmq1"), [slow]) == Interference()


def test_a_declaration_may_wait_until_a_silent_peer_times_out() -> None:
    own, frozen = armed(1, "hang", "rmq1"), armed(2, "freeze", "rmq2")
    assert interference(own, [frozen], detection_timeout_s=10).agreeing_s == 12.5
    assert interference(own, [armed(2, "kill", "rmq2")], detection_timeout_s=10).agreeing_s == 0


def test_a_late_way_is_no_closed_one() -> None:
    late = compiled_fault(
        "slow_peers",
        "rmq2",
        HOSTS,
        window=2,
        mechanism=PROXY,
        options=SlowPeersOptions(latency_s=0.2),
    )
    found = interference(armed(1, "partition", "rmq1"), [late])
    assert not found.closed
    assert ("rmq2", "rmq3") in found.slowed
    assert ("rmq1", "rmq3") not in found.slowed


def test_a_paused_broker_that_resets_clients_still_is_isolated() -> None:
    attempts = {("rmq3", "rmq1"): SILENT, ("rmq1", "rmq3"): SILENT}
    direct = {"rmq1": ANSWERED, "rmq3": ANSWERED}
    assert links_isolated(IsolationEvidence("rmq1", attempts, {}, {}, direct)).ok
    loud = {**attempts, ("rmq3", "rmq1"): ANSWERED}
    assert not links_isolated(IsolationEvidence("rmq1", loud, {}, {}, direct)).ok


def test_a_slow_link_is_queried_again_after_a_hiding_fault() -> None:
    """Held canaries are asked once: not while a hang makes them silent."""

    class Held:
        silent = True

        async def words(self, own: Armed, words: Words) -> Replies:
            return dict.fromkeys((*own.proxies, DIRECT), SILENT if self.silent else ANSWERED)

        async def prepare(self, own: Armed) -> None: ...

        async def dismiss(self, own: Armed) -> None: ...

    async def story() -> tuple[Proof, Proof]:
        witness = Held()
        looked = Slowed(
            armed(1, "slow", "rmq1", SlowOptions(latency_s=0.5)), cast(Witness, witness)
        )
        hidden = await looked.gone()
        witness.silent = False
        return hidden, await looked.gone()

    hidden, ended = asyncio.run(story())
    assert hidden.doubt == "still silent: p1"
    assert ended.ok, ended.doubt
