"""Packets on a link, and octets that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.node.gossip import Greeting
from reference_impl.node.wire import Hello, Packet, PacketReader, Tick, WireError, encode

HELLO = Hello("a", 1, Greeting(("a", "b")))


def framed(octets: bytes) -> bytes:
    return len(octets).to_bytes(4, "big") + octets


@given(st.lists(st.sampled_from([HELLO, Tick()])), st.integers(1, 50))
def test_packets_are_read_in_their_order_however_they_come(said: list[Packet], step: int) -> None:
    octets, reader = b"".join(map(encode, said)), PacketReader(1 << 20)
    pieces = [octets[at : at + step] for at in range(0, len(octets), step)]
    assert [packet for piece in pieces for packet in reader.read(piece)] == said


@pytest.mark.parametrize(
    "nested",
    [b"\x91" * 100_000, b"\x81\xa1k" * 100_000, b"\x95\xa1m" + b"\x91" * 100_000],
    ids=["lists", "maps", "in a message"],
)
def test_too_deeply_nested_packets_are_refused(nested: bytes) -> None:
    with pytest.raises(WireError):
        list(PacketReader(1 << 20).read(framed(nested)))


def test_an_oversized_packet_is_refused_by_its_length() -> None:
    with pytest.raises(WireError, match="a packet of 1001 octets"):
        list(PacketReader(1000).read((1001).to_bytes(4, "big")))


def test_the_packet_limit_may_change_between_two_packets_read_together() -> None:
    long = encode(Hello("a" * 100, 1, Greeting(())))
    reader = PacketReader(50)
    reading = reader.read(encode(Tick()) + long)
    assert next(reading) == Tick()
    reader.octets_max = 500
    assert isinstance(next(reading), Hello)
