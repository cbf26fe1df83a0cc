"""What proves that a host loses or delays its packets, and that it does not any more."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from faults.core.actions import Impair
from faults.core.exclusive import clash, things
from faults.core.interference import interference
from faults.core.kind import ArmedFault
from faults.core.model import FaultError, Impairment, PacketSamples, Proof
from faults.core.options import FaultOptions
from faults.kinds import KINDS
from faults.kinds.packets import rules
from faults.kinds.packets.packet_delay import PacketDelayOptions
from faults.kinds.packets.packet_loss import PacketLossOptions
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from tests.rigs.clusters.fault_world import HOSTS, OPTIONS_OF, World, compiled_fault
from tests.rigs.machine import virtual_time

SHORT_S = 0.3
PACKETS = ["packet_loss", "packet_delay"]
WAYS = (("rmq2", "rmq1"), ("rmq3", "rmq1"))
LOSES = {"eth0": Impairment(0.2, 0, 0, 0, 0)}
MEANT = Impairment(0, 0.2, 0.05, 0.25, 0)


def armed(
    kind: str, host: str = "rmq1", window: int = 1, options: FaultOptions | None = None
) -> ArmedFault:
    return compiled_fault(kind, host, HOSTS, window=window, options=options or OPTIONS_OF[kind])


def sampled(sent: int, lost: int, seconds: float = 0.001) -> PacketSamples:
    return PacketSamples(sent, (seconds,) * (sent - lost))


def lossy(
    lost: int,
    *,
    beside: int = 0,
    dropped: int = 100,
    after: Mapping[str, Impairment] | None = None,
) -> rules.PacketEvidence:
    """So many lost requests of 200, those of two hosts; `beside`: of 100 between these."""
    counted = {name: replace(one, dropped=dropped) for name, one in LOSES.items()}
    samples = {WAYS[0]: sampled(100, lost // 2), WAYS[1]: sampled(100, lost - lost // 2)}
    between = {("rmq2", "rmq3"): sampled(100, beside)}
    return rules.PacketEvidence(LOSES, counted if after is None else after, samples, between)


def late(*seconds: float, beside_s: float = 0.001) -> rules.PacketEvidence:
    kernel = {"eth0": MEANT}
    samples = {WAYS[0]: PacketSamples(len(seconds), seconds)}
    return rules.PacketEvidence(
        kernel, kernel, samples, {("rmq2", "rmq3"): sampled(50, 0, beside_s)}
    )


@pytest.mark.parametrize("percent", range(1, 101))
def test_the_least_loss_that_proves_is_more_than_none(percent: int) -> None:
    share = percent / 100
    sent = rules.echoes_of_loss(share)
    least, most = rules.lost_bounds(sent, share)
    assert rules.NONE * share * sent < least <= sent * share <= most <= sent
    assert round(sent * share, 6) >= rules.LOST_MEAN
    assert sent <= 2000


def test_a_whole_loss_leaves_no_answer() -> None:
    assert rules.lost_bounds(100, 1.0) == (100, 100)


@pytest.mark.parametrize("lost", [18, 40, 62])
def test_a_share_near_the_meant_one_proves_a_loss(lost: int) -> None:
    proof = rules.loss_held(lossy(lost), 0.2)
    assert proof.ok, proof.doubt
    assert f"{lost} of 200 echo requests of 2 hosts lost (18 to 62 fit 20%)" in proof.detail


@pytest.mark.parametrize(
    ("evidence", "doubt"),
    [
        (lossy(17), "17 of 200 echo requests lost; a loss of 20% makes it 18 to 62"),
        (lossy(63), "63 of 200 echo requests lost"),
        (lossy(40, dropped=39), "but netem dropped 39 packets meanwhile"),
        (
            lossy(40, beside=3),
            "more is affected than was meant: echo requests are lost: rmq2 -> rmq3: 3 of 100 lost",
        ),
        (lossy(40, after={}), "no interface has our netem"),
        (lossy(40, after={"eth0": MEANT}), "does something else than was meant: eth0: "),
        (replace(lossy(40), samples={}), rules.HIDDEN.doubt),
    ],
)
def test_a_loss_without_all_evidence_is_not_believed(
    evidence: rules.PacketEvidence, doubt: str
) -> None:
    proof = rules.loss_held(evidence, 0.2)
    assert not proof.ok
    assert doubt in proof.doubt


def test_no_measured_way_between_other_hosts_leaves_no_doubt() -> None:
    assert rules.loss_held(replace(lossy(40), beside={}), 0.2).ok
    assert rules.delay_held(replace(late(0.2), beside={}), MEANT).ok


def test_round_trips_of_the_meant_delay_prove_it() -> None:
    proof = rules.delay_held(late(0.152, 0.2, 0.251), MEANT)
    assert proof.ok, proof.doubt
    assert "took 0.152 to 0.251 s (at least 0.148 s)" in proof.detail


@pytest.mark.parametrize(
    ("evidence", "doubt"),
    [
        (late(0.147, 0.2, 0.2), "round trips of 0.147 s and more"),
        (late(0.2, 0.36, 0.36), "half of them above 0.360 s"),
        (late(), "too few answers"),
        (late(0.2, beside_s=0.08), "more is affected than was meant: not quick: rmq2 -> rmq3"),
        (replace(late(0.2), after=LOSES), "does something else than was meant"),
        (replace(late(0.2), before={}), "no interface has our netem"),
        (replace(late(0.2), samples={}), rules.HIDDEN.doubt),
    ],
)
def test_a_delay_without_all_evidence_is_not_believed(
    evidence: rules.PacketEvidence, doubt: str
) -> None:
    proof = rules.delay_held(evidence, MEANT)
    assert not proof.ok
    assert doubt in proof.doubt


@pytest.mark.parametrize(
    ("samples", "doubt"),
    [
        ({WAYS[0]: sampled(50, 0, 0.08)}, "half within 0.080 s"),
        ({WAYS[0]: sampled(50, 26)}, "24 of 50 answered"),
        ({WAYS[0]: sampled(50, 50)}, "0 of 50 answered"),
        ({}, rules.HIDDEN.doubt),
    ],
)
def test_a_way_that_is_not_quick_is_still_late(samples: rules.Samples, doubt: str) -> None:
    assert doubt in rules.quick(samples, MEANT).doubt


def test_a_tenth_of_the_expected_loss_is_none() -> None:
    assert rules.lossless({WAYS[0]: sampled(100, 2)}, 0.2).ok
    assert "3 of 100 lost" in rules.lossless({WAYS[0]: sampled(100, 3)}, 0.2).doubt


# --- in a world ---------------------------------------------------------------------------------


def beside(own: ArmedFault, *others: ArmedFault) -> ArmedFault:
    return replace(own, meanwhile=lambda: interference(own, others))


def story(own: ArmedFault, *others: ArmedFault) -> tuple[Proof, Proof]:
    """What is seen of a fault beside others: while it is active, and when it was undone first."""

    async def played() -> tuple[Proof, Proof]:
        world, looked = World(), beside(own, *others)
        for one in others:
            await perform_all(world, one.actions)
        await prepare(looked, world)
        await perform_all(world, own.actions)
        active = await held(looked, world, SHORT_S)
        await perform_all(world, own.undo)
        return active, await gone(looked, world, SHORT_S)

    return virtual_time.run(played())


@pytest.mark.parametrize("other", [*PACKETS, "partition", "black_hole"])
@pytest.mark.parametrize("own", [*PACKETS, "partition", "black_hole"])
def test_a_fault_is_verified_beside_one_of_another_host(own: str, other: str) -> None:
    active, ended = story(armed(own), armed(other, "rmq3", window=2))
    assert active.ok, active.doubt
    assert ended.ok, ended.doubt


@pytest.mark.parametrize("kind", PACKETS)
def test_a_host_that_is_impaired_already_is_not_impaired_again(kind: str) -> None:
    world = World(impaired={"rmq1": Impair("rmq1", loss=1)})
    with pytest.raises(FaultError, match="our netem is still there: eth0"):
        virtual_time.run(prepare(armed(kind), world))


@pytest.mark.parametrize("kind", PACKETS)
def test_old_loss_between_other_hosts_is_noticed_before_the_fault(kind: str) -> None:
    world = World(impaired={"rmq2": Impair("rmq2", loss=60)})
    with pytest.raises(FaultError, match="before the fault: "):
        virtual_time.run(prepare(armed(kind), world))


@pytest.mark.parametrize("kind", PACKETS)
def test_packets_that_others_hide_altogether_are_not_measured(kind: str) -> None:
    own = armed(kind)
    looked = beside(own, armed("black_hole", window=2))
    with pytest.raises(FaultError, match="other active faults change every way"):
        virtual_time.run(prepare(looked, World()))


def test_two_impairments_of_one_host_would_undo_each_other() -> None:
    own = [things(KINDS[kind], ("rmq1",), "", (), ()) for kind in PACKETS]
    assert clash(*own)
    assert not clash(own[0], things(KINDS["packet_delay"], ("rmq2",), "", (), ()))
    assert not clash(own[0], things(KINDS["kill"], ("rmq1",), "", (), ()))


@pytest.mark.parametrize(
    ("kind", "options", "why"),
    [
        ("packet_loss", PacketLossOptions(), "no loss was given"),
        ("packet_delay", PacketDelayOptions(), "no delay was given"),
        (
            "packet_delay",
            PacketDelayOptions(delay_s=0.2, jitter_s=0.11),
            "jitter must be at most half of the delay",
        ),
    ],
)
def test_an_impairment_without_effect_is_refused(
    kind: str, options: FaultOptions, why: str
) -> None:
    with pytest.raises(FaultError, match=why):
        armed(kind, options=options)


@pytest.mark.parametrize("kind", PACKETS)
def test_a_host_that_is_alone_cannot_be_measured(kind: str) -> None:
    with pytest.raises(FaultError, match="rmq1 is alone"):
        compiled_fault(kind, "rmq1", ("rmq1",), options=OPTIONS_OF[kind])
