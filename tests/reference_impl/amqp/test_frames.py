"""Frames out of octets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.amqp.codec.frames import (
    BODY,
    FRAME_MIN,
    HEARTBEAT,
    METHOD,
    Frame,
    FrameReader,
    frame,
)
from reference_impl.amqp.rules.errors import AmqpError

FRAMES = [(METHOD, 1, b"abc"), (HEARTBEAT, 0, b""), (BODY, 65_535, bytes(300))]
OCTETS = b"".join(frame(*each) for each in FRAMES)


def test_frames_are_the_same_wherever_their_octets_are_split() -> None:
    for cut in range(len(OCTETS) + 1):
        reader = FrameReader()
        assert [*reader.read(OCTETS[:cut]), *reader.read(OCTETS[cut:])] == FRAMES


@given(st.lists(st.integers(1, 40), max_size=60))
def test_frames_are_the_same_in_pieces_of_any_size(sizes: list[int]) -> None:
    reader, at = FrameReader(), 0
    got: list[Frame] = []
    for size in [*sizes, len(OCTETS)]:
        got += reader.read(OCTETS[at : at + size])
        at += size
    assert got == FRAMES


def test_a_wrong_frame_end_is_501_after_the_whole_frames() -> None:
    reader = FrameReader()
    got: list[Frame] = []
    with pytest.raises(AmqpError) as raised:
        got.extend(_read_into(got, reader, OCTETS + frame(METHOD, 1, b"x")[:-1] + b"\0"))
    assert raised.value.code == 501
    assert got == FRAMES


def test_a_frame_may_exceed_its_limit_by_only_eight_octets() -> None:
    assert list(FrameReader().read(frame(BODY, 1, bytes(FRAME_MIN))))
    with pytest.raises(AmqpError) as raised:
        list(FrameReader().read(frame(BODY, 1, bytes(FRAME_MIN + 1))))
    assert raised.value.code == 501


def test_a_frame_too_large_is_refused_by_its_size_alone() -> None:
    with pytest.raises(AmqpError):
        list(FrameReader().read(b"\x03\0\x01\x7f\xff\xff\xff"))


def test_after_a_broken_frame_nothing_is_read_or_kept() -> None:
    reader = FrameReader()
    with pytest.raises(AmqpError):
        list(reader.read(b"\x01\0\0\0\0\0\0!"))
    assert list(reader.read(OCTETS)) == []
    assert reader._held == b""


def _read_into(got: list[Frame], reader: FrameReader, octets: bytes) -> list[Frame]:
    for each in reader.read(octets):
        got.append(each)
    return []
