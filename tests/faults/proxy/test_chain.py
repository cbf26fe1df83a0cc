"""Chains of toxics under whatever comes: no byte is lost, doubled or put out of order, unless a
toxic says so."""

from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.proxy.core.chain import Chain
from faults.proxy.core.model import Toxic
from faults.proxy.core.toxics.bandwidth import Bandwidth
from faults.proxy.core.toxics.catalogue import Settings
from faults.proxy.core.toxics.closing import LimitData, ResetPeer, SlowClose, Timeout
from faults.proxy.core.toxics.flow import END, MS, WAITING_MAX, Chunk, Item
from faults.proxy.core.toxics.latency import Latency
from faults.proxy.core.toxics.noop import Noop
from faults.proxy.core.toxics.slicer import Slicer

TYPES: dict[type, str] = {
    Bandwidth: "bandwidth",
    Latency: "latency",
    LimitData: "limit_data",
    Noop: "noop",
    ResetPeer: "reset_peer",
    Slicer: "slicer",
    SlowClose: "slow_close",
    Timeout: "timeout",
}
TICKS_MAX = 10_000


@dataclass
class Bench:
    """A chain, a clock that only its owner moves, and everything that has left."""

    chain: Chain = field(default_factory=lambda: Chain([], Random(7), 0))
    now_ns: int = 0
    octets: bytes = b""
    pieces: list[bytes] = field(default_factory=list)
    ends: int = 0

    def hear(self, items: list[Item]) -> None:
        for item in items:
            assert self.ends == 0, "something left after the end"
            if item is END:
                self.ends += 1
            else:
                assert isinstance(item, Chunk)
                self.octets += item.octets
                self.pieces.append(item.octets)

    def receive(self, octets: bytes) -> None:
        self.hear(self.chain.receive(octets, self.now_ns))

    def end(self) -> None:
        self.hear(self.chain.end(self.now_ns))

    def pass_time(self, ns: int) -> None:
        """Ticks when the chain wants to, as its shell does."""
        until_ns = self.now_ns + ns
        for _ in range(TICKS_MAX):
            due_ns = self.chain.due_ns
            if due_ns is None or due_ns > until_ns:
                break
            self.now_ns = max(self.now_ns, due_ns)
            self.hear(self.chain.tick(self.now_ns))
        else:
            pytest.fail("the chain never comes to rest")
        self.now_ns = until_ns

    def add(self, toxic: Toxic) -> None:
        self.hear(self.chain.add(toxic, self.now_ns))

    def update(self, toxic: Toxic) -> None:
        self.hear(self.chain.update(toxic, self.now_ns))

    def remove(self, toxic: Toxic) -> None:
        self.hear(self.chain.remove(toxic, self.now_ns))


def toxic(settings: Settings, name: str = "t", toxicity: float = 1.0) -> Toxic:
    return Toxic(name, TYPES[type(settings)], "upstream", toxicity, settings)


small = st.integers(-1, 300)
ANY: dict[type, st.SearchStrategy[Settings]] = {
    Latency: st.builds(Latency, small, st.integers(0, 50)),
    Bandwidth: st.builds(Bandwidth, st.integers(-1, 3)),
    Slicer: st.builds(Slicer, st.integers(-1, 9), st.integers(0, 12), st.integers(0, 20_000)),
    SlowClose: st.builds(SlowClose, small),
    Noop: st.builds(Noop),
    Timeout: st.builds(Timeout, small),
    ResetPeer: st.builds(ResetPeer, small),
    LimitData: st.builds(LimitData, small),
}
DROPPING = (Timeout, ResetPeer, LimitData)
HOLDING = tuple(kind for kind in ANY if kind not in DROPPING)
toxicities = st.sampled_from([0.0, 0.5, 1.0])
HAPPENINGS = ("receive", "receive", "receive", "time", "add", "update", "remove", "end")


def happen(
    draw: st.DataObject, bench: Bench, kinds: tuple[type, ...], octets_max: int
) -> tuple[bytes, bool, list[Toxic]]:
    """A story of the chain: what was sent, whether it was ended, which toxics are left."""
    sent, ended, toxics = b"", False, list[Toxic]()
    for number in range(draw.draw(st.integers(1, 25))):
        what = draw.draw(st.sampled_from(HAPPENINGS))
        if what == "receive" and not ended and len(sent) < octets_max:
            count = min(draw.draw(st.integers(1, 40)), octets_max - len(sent))
            octets = bytes((len(sent) + i) % 256 for i in range(count))
            sent += octets
            bench.receive(octets)
        elif what == "time":
            bench.pass_time(draw.draw(st.integers(0, 400)) * MS)
        elif what == "add":
            settings = draw.draw(ANY[draw.draw(st.sampled_from(kinds))])
            toxics.append(toxic(settings, f"t{number}", draw.draw(toxicities)))
            bench.add(toxics[-1])
        elif what == "update" and toxics:
            which = draw.draw(st.integers(0, len(toxics) - 1))
            settings = draw.draw(ANY[type(toxics[which].settings)])
            toxics[which] = toxic(settings, toxics[which].name, draw.draw(toxicities))
            bench.update(toxics[which])
        elif what == "remove" and toxics:
            bench.remove(toxics.pop(draw.draw(st.integers(0, len(toxics) - 1))))
        elif what == "end" and not ended:
            ended = True
            bench.end()
    return sent, ended, toxics


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_toxics_that_hold_lose_nothing_and_keep_the_order(draw: st.DataObject) -> None:
    bench = Bench()
    sent, ended, toxics = happen(draw, bench, HOLDING, 10_000)
    assert sent.startswith(bench.octets)
    for one in draw.draw(st.permutations(toxics)):
        bench.remove(one)
        assert sent.startswith(bench.octets)
    assert bench.octets == sent
    assert bench.ends == ended
    assert bench.chain.clean or ended


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_time_alone_brings_everything_where_nothing_stalls(draw: st.DataObject) -> None:
    moving = tuple(kind for kind in HOLDING if kind is not Bandwidth)
    bench = Bench()
    bench.add(toxic(Bandwidth(1), "pace"))
    sent, ended, _ = happen(draw, bench, moving, 2_000)
    bench.pass_time(10**15)
    assert (bench.octets, bench.ends) == (sent, ended)
    assert bench.chain.due_ns is None


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_toxics_that_drop_never_double_or_reorder(draw: st.DataObject) -> None:
    bench = Bench()
    sent, _, toxics = happen(draw, bench, HOLDING + DROPPING, 256)
    for one in toxics:
        bench.remove(one)
    bench.pass_time(10**15)
    assert list(bench.octets) == sorted(set(bench.octets)), "each byte is sent once, in order"
    assert set(bench.octets) <= set(sent)


def test_data_released_by_the_last_toxic_bypasses_a_new_one() -> None:
    bench = Bench()
    bench.add(toxic(Latency(1_000), "first"))
    bench.receive(b"held")
    bench.add(toxic(Timeout(0), "second"))
    assert bench.octets == b"held"


def test_a_toxic_that_goes_interrupts_the_one_before_it() -> None:
    bench = Bench()
    bench.add(toxic(Latency(1_000), "first"))
    bench.add(toxic(Noop(), "second"))
    bench.receive(b"one")
    bench.receive(b"two")
    bench.remove(toxic(Noop(), "second"))
    assert bench.octets == b"one"


def test_a_release_reaches_the_toxics_behind() -> None:
    bench = Bench()
    bench.add(toxic(Bandwidth(0), "first"))
    bench.add(toxic(LimitData(3), "second"))
    bench.receive(b"12345")
    bench.remove(toxic(Bandwidth(0), "first"))
    assert (bench.octets, bench.ends) == (b"123", 1)


def test_a_chain_that_has_ended_wants_nothing_and_says_nothing() -> None:
    bench = Bench()
    bench.add(toxic(LimitData(1)))
    bench.receive(b"12")
    assert bench.chain.full
    bench.receive(b"3")
    bench.end()
    bench.add(toxic(Latency(5), "late"))
    bench.update(toxic(LimitData(9)))
    bench.remove(toxic(LimitData(9)))
    bench.remove(toxic(Latency(5), "late"))
    assert (bench.octets, bench.ends, bench.chain.due_ns) == (b"1", 1, None)


def test_a_stall_fills_quickly_and_accepts_data_after_its_release() -> None:
    bench = Bench()
    bench.add(toxic(Bandwidth(0)))
    taken = 0
    while not bench.chain.full:
        bench.receive(b"x")
        taken += 1
    assert taken == 1 + WAITING_MAX
    bench.update(toxic(Bandwidth(0), toxicity=0.0))
    assert not bench.chain.full


@pytest.mark.parametrize("toxicity", [0.0, 1.0])
def test_toxicities_of_0_and_1_are_exact(toxicity: float) -> None:
    for seed in range(200):
        bench = Bench(Chain([toxic(Timeout(0), toxicity=toxicity)], Random(seed), 0))
        bench.receive(b"x")
        assert bench.octets == (b"x" if toxicity == 0 else b"")


def test_a_toxicity_between_is_drawn_from_the_stream_alone() -> None:
    def passed(seed: int) -> bytes:
        bench = Bench(Chain([toxic(Timeout(0), toxicity=0.5)], Random(seed), 0))
        bench.receive(b"x")
        return bench.octets

    drawn = [passed(seed) for seed in range(100)]
    assert drawn == [passed(seed) for seed in range(100)]
    assert 20 < drawn.count(b"x") < 80


def test_adding_or_removing_a_neighbour_redraws_no_toxicity() -> None:
    for seed in range(50):
        bench = Bench(Chain([toxic(Timeout(0), "half", 0.5)], Random(seed), 0))
        bench.receive(b"x")
        passes = bool(bench.octets)
        bench.add(toxic(Noop(), "other", 1.0))
        bench.receive(b"y")
        bench.remove(toxic(Noop(), "other", 1.0))
        bench.receive(b"z")
        assert bench.octets == (b"xyz" if passes else b"")
