"""Each toxic alone: what leaves it, and to the nanosecond when."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.proxy.core.toxics.bandwidth import Bandwidth, BandwidthPipe
from faults.proxy.core.toxics.catalogue import KINDS, Settings
from faults.proxy.core.toxics.closing import (
    LimitData,
    LimitDataPipe,
    ResetPeer,
    ResetPeerPipe,
    SlowClose,
    SlowClosePipe,
    Timeout,
    TimeoutPipe,
)
from faults.proxy.core.toxics.flow import (
    END,
    MS,
    US,
    Arrived,
    Chunk,
    Interrupted,
    Item,
    Pipe,
    Released,
    Retuned,
    Ticked,
)
from faults.proxy.core.toxics.latency import HELD_MAX, Latency, LatencyPipe
from faults.proxy.core.toxics.slicer import Slicer, SlicerPipe


def chunk(octets: bytes, at_ms: int = 0) -> Arrived:
    return Arrived(at_ms * MS, Chunk(octets, at_ms * MS))


def ended(at_ms: int = 0) -> Arrived:
    return Arrived(at_ms * MS, END)


def contents(items: list[Item]) -> list[bytes | str]:
    return [item.octets if isinstance(item, Chunk) else "end" for item in items]


def timeline(pipe: Pipe[Settings], until_ms: int) -> list[tuple[float, bytes | str]]:
    """Everything that leaves by itself, with the millisecond."""
    left: list[tuple[float, bytes | str]] = []
    while pipe.due_ns is not None and pipe.due_ns <= until_ms * MS and len(left) < 1_000:
        at_ns = pipe.due_ns
        left += [(at_ns / MS, one) for one in contents(pipe.handle(Ticked(at_ns)))]
        if left and left[-1][1] == "end":
            break
    return left


def test_a_latency_delays_each_chunk_from_its_arrival() -> None:
    pipe = LatencyPipe(Latency(100), Random(1), 0)
    assert pipe.handle(chunk(b"a", 0)) == pipe.handle(chunk(b"b", 30)) == []
    assert timeline(pipe, 1_000) == [(100, b"a"), (130, b"b")]


def test_a_latencys_end_follows_the_last_chunk_at_once() -> None:
    pipe = LatencyPipe(Latency(100), Random(1), 0)
    pipe.handle(chunk(b"a"))
    pipe.handle(ended(90))
    assert timeline(pipe, 1_000) == [(100, b"a"), (100, "end")]


def test_an_end_alone_passes_a_latency() -> None:
    assert contents(LatencyPipe(Latency(100), Random(1), 0).handle(ended())) == ["end"]


def test_a_tick_before_it_is_due_brings_nothing() -> None:
    pipe = LatencyPipe(Latency(100), Random(1), 0)
    pipe.handle(chunk(b"a"))
    assert pipe.handle(Ticked(100 * MS - 1)) == []
    assert contents(pipe.handle(Ticked(100 * MS))) == [b"a"]


def test_jitter_is_drawn_per_chunk_and_keeps_the_order() -> None:
    pipe = LatencyPipe(Latency(100, 50), Random(1), 0)
    for number in range(100):
        pipe.handle(chunk(bytes([number]), number * 1_000))
        ((at_ms, octets),) = timeline(pipe, 200_000)
        assert octets == bytes([number])
        assert 50 <= at_ms - number * 1_000 < 150


def test_a_latency_toxic_holds_as_many_pieces_as_toxiproxys() -> None:
    pipe = LatencyPipe(Latency(100), Random(1), 0)
    for _ in range(HELD_MAX - 1):
        pipe.handle(chunk(b"x"))
    assert not pipe.full
    pipe.handle(chunk(b"x"))
    assert pipe.full


def test_a_rate_sends_portions_of_100_ms_and_the_rest() -> None:
    pipe = BandwidthPipe(Bandwidth(1), Random(1), 0)
    pipe.handle(chunk(b"x" * 250))
    assert timeline(pipe, 1_000) == [(100, b"x" * 100), (200, b"x" * 100), (250, b"x" * 50)]


def test_a_rate_compensates_for_a_late_tick() -> None:
    pipe = BandwidthPipe(Bandwidth(1), Random(1), 0)
    pipe.handle(chunk(b"x" * 50))
    assert contents(pipe.handle(Ticked(70 * MS))) == [b"x" * 50]
    pipe.handle(chunk(b"y" * 50, 70))
    assert pipe.due_ns == 100 * MS


@settings(deadline=None)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=20), st.integers(1, 20))
def test_a_rate_is_kept_over_any_pieces(sizes: list[int], rate: int) -> None:
    pipe = BandwidthPipe(Bandwidth(rate), Random(1), 0)
    for size in sizes:
        pipe.handle(chunk(b"x" * size))
    left = timeline(pipe, 10**9)
    assert sum(len(octets) for _, octets in left) == sum(sizes)
    assert left[-1][0] == pytest.approx(sum(sizes) / rate, abs=0.001)


@pytest.mark.parametrize("rate", [0, -5])
def test_a_rate_of_0_or_less_holds_for_ever(rate: int) -> None:
    pipe = BandwidthPipe(Bandwidth(rate), Random(1), 0)
    assert pipe.handle(chunk(b"held")) == pipe.handle(ended()) == []
    assert pipe.due_ns is None
    assert contents(pipe.handle(Released(5))) == [b"held", "end"]


def test_a_new_rate_releases_the_current_chunk_and_paces_others() -> None:
    pipe = BandwidthPipe(Bandwidth(0), Random(1), 0)
    pipe.handle(chunk(b"a" * 10))
    pipe.handle(chunk(b"b" * 10))
    assert contents(pipe.handle(Retuned(0, Bandwidth(1)))) == [b"a" * 10]
    assert timeline(pipe, 100) == [(10, b"b" * 10)]


def test_slices_come_apart_and_together_are_the_chunk() -> None:
    pipe = SlicerPipe(Slicer(10, 0, 1_000), Random(1), 0)
    first = contents(pipe.handle(chunk(bytes(range(100)))))
    later = timeline(pipe, 1_000)
    assert b"".join([*first, *(octets for _, octets in later)]) == bytes(range(100))
    assert [at_ms for at_ms, _ in later] == list(range(1, len(later) + 1))
    assert all(0 < len(octets) <= 10 for _, octets in later)


def test_slices_without_a_pause_leave_at_once_and_apart() -> None:
    left = contents(SlicerPipe(Slicer(4, 0, 0), Random(1), 0).handle(chunk(b"abcdefgh")))
    assert left == [b"abcd", b"efgh"]


@settings(deadline=None)
@given(
    st.binary(min_size=1, max_size=400),
    st.integers(-5, 50),
    st.integers(-5, 90),
    st.integers(0, 2**32),
)
def test_any_slicing_loses_nothing_and_has_no_empty_slice(
    octets: bytes, size: int, variation: int, seed: int
) -> None:
    pipe = SlicerPipe(Slicer(size, variation, 0), Random(seed), 0)
    left = contents(pipe.handle(chunk(octets)))
    assert b"".join(left) == octets
    assert all(left)
    assert len(left) == 1 or all(len(one) <= max(1, size + max(0, variation)) for one in left)


def test_an_interrupted_slicer_sends_the_rest_of_the_chunk_whole() -> None:
    pipe = SlicerPipe(Slicer(2, 0, 1_000), Random(1), 0)
    pipe.handle(chunk(b"abcdef"))
    pipe.handle(chunk(b"next"))
    assert contents(pipe.handle(Interrupted(500 * US))) == [b"bcdef", b"ne"]


def test_a_timeout_drops_data_and_ends_idle_connections() -> None:
    pipe = TimeoutPipe(Timeout(100), Random(1), 0)
    assert pipe.handle(chunk(b"dropped", 60)) == []
    assert timeline(pipe, 1_000) == [(160, "end")]


def test_a_timeout_of_0_never_ends_by_itself() -> None:
    pipe = TimeoutPipe(Timeout(0), Random(1), 0)
    assert pipe.handle(chunk(b"dropped")) == []
    assert pipe.due_ns is None
    assert contents(pipe.handle(ended())) == ["end"]


@pytest.mark.parametrize("first", [chunk(b"x", 10), ended(10)])
def test_a_reset_starts_with_the_first_chunk_and_is_unstoppable(first: Arrived) -> None:
    pipe = ResetPeerPipe(ResetPeer(100), Random(1), 0)
    assert pipe.due_ns is None
    assert pipe.handle(first) == pipe.handle(chunk(b"more", 50)) == []
    assert pipe.handle(Interrupted(60 * MS)) == []
    assert pipe.handle(Retuned(60 * MS, ResetPeer(500))) == []
    assert timeline(pipe, 1_000) == [(110, "end")]


def test_a_release_hastens_only_a_reset_that_has_begun() -> None:
    pipe = ResetPeerPipe(ResetPeer(100), Random(1), 0)
    assert pipe.handle(Released(0)) == []
    pipe.handle(chunk(b"x"))
    assert contents(pipe.handle(Released(1))) == ["end"]


def test_a_slow_close_holds_the_end_only() -> None:
    pipe = SlowClosePipe(SlowClose(100), Random(1), 0)
    assert contents(pipe.handle(chunk(b"x"))) == [b"x"]
    assert pipe.handle(ended(10)) == []
    assert timeline(pipe, 1_000) == [(110, "end")]


def test_a_limit_passes_so_many_bytes_and_then_ends() -> None:
    pipe = LimitDataPipe(LimitData(5), Random(1), 0)
    assert contents(pipe.handle(chunk(b"123"))) == [b"123"]
    assert contents(pipe.handle(chunk(b"4567"))) == [b"45", "end"]


def test_every_type_that_the_real_server_has_is_there() -> None:
    assert sorted(KINDS) == [
        "bandwidth",
        "latency",
        "limit_data",
        "noop",
        "reset_peer",
        "slicer",
        "slow_close",
        "timeout",
    ]
