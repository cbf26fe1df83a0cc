"""Content headers, and what goes to a client, against pika's encoder and decoder."""

from typing import Any

import pika
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pika import frame as pika_frame
from pika import spec

from reference_impl.amqp.codec.content import (
    ack_frame,
    content_header,
    delivery_frames,
    get_frames,
    nack_frame,
    read_ack,
)
from reference_impl.amqp.codec.properties import (
    NO_PROPERTIES,
    as_dead_letter,
    expiration_of,
    headers_of,
    wishes,
)
from reference_impl.amqp.rules.errors import AmqpError
from reference_impl.protocol.queues import Message

_short = st.text(max_size=20)
_properties = st.builds(
    pika.BasicProperties,
    content_type=st.none() | _short,
    content_encoding=st.none() | _short,
    headers=st.none() | st.dictionaries(_short, st.integers(0, 9) | _short, max_size=3),
    delivery_mode=st.none() | st.sampled_from([1, 2]),
    priority=st.none() | st.integers(0, 255),
    correlation_id=st.none() | _short,
    reply_to=st.none() | _short,
    expiration=st.none() | st.integers(0, 10**9).map(str),
    message_id=st.none() | _short,
    timestamp=st.none() | st.integers(0, 2**32),
    type=st.none() | _short,
    user_id=st.none() | st.just("guest"),
    app_id=st.none() | _short,
)


def encoded(properties: pika.BasicProperties, octets: int = 0) -> bytes:
    """The payload of pika's header frame."""
    return pika_frame.Header(1, octets, properties).marshal()[7:-1]


def read(octets: bytes) -> list[Any]:
    """Frames in pika's eyes."""
    frames = []
    while octets:
        consumed, one = pika_frame.decode_frame(octets)
        frames.append(one)
        octets = octets[consumed:]
    return frames


@given(_properties, st.integers(0, 2**40))
def test_persistence_is_found_behind_any_other_properties(
    properties: pika.BasicProperties, octets: int
) -> None:
    size, relayed = content_header(encoded(properties, octets))
    assert size == octets
    wanted = wishes(relayed, "guest")
    assert wanted.persistent == (properties.delivery_mode == 2)
    assert wanted.lives_ms == int(properties.expiration or -1)
    assert wanted.priority == (properties.priority or 0)
    assert (headers_of(relayed), expiration_of(relayed)) == (
        properties.headers or {},
        properties.expiration,
    )


@given(_properties)
def test_a_dead_letter_changes_only_its_headers_and_expiration(
    properties: pika.BasicProperties,
) -> None:
    _, relayed = content_header(encoded(properties))
    dead = as_dead_letter(relayed, {"x-death": [{"count": 2}]})
    properties.headers, properties.expiration = {"x-death": [{"count": 2}]}, None
    assert dead == content_header(encoded(properties))[1]


@given(st.binary(max_size=40))
def test_malformed_properties_are_502_or_540_or_a_foreign_user(octets: bytes) -> None:
    assert code_of(b"\0\0"[len(octets) :] + octets) in (None, 406, 502, 540)


def code_of(properties: bytes) -> int | None:
    try:
        wishes(properties, "guest")
    except AmqpError as error:
        return error.code
    return None


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        (pika.BasicProperties(expiration="soon"), 406),
        (pika.BasicProperties(expiration="-1"), 406),
        (pika.BasicProperties(expiration=str(2**32)), 406),
        (pika.BasicProperties(headers={"CC": ["a"]}), 540),
        (pika.BasicProperties(headers={"BCC": ["a"]}, delivery_mode=2), 540),
        (pika.BasicProperties(user_id="somebody"), 406),
        (pika.BasicProperties(user_id="somebody", timestamp=1, type="t", message_id="m"), 406),
    ],
)
def test_properties_that_would_change_a_messages_route_are_refused(
    properties: pika.BasicProperties, code: int
) -> None:
    with pytest.raises(AmqpError) as raised:
        wishes(content_header(encoded(properties))[1], "guest")
    assert raised.value.code == code


def test_a_value_that_resembles_a_cc_header_changes_nothing() -> None:
    properties = pika.BasicProperties(headers={"note": "\x02CC"}, delivery_mode=2)
    assert wishes(content_header(encoded(properties))[1], "guest") == (True, -1, 0)


def test_no_properties_want_nothing() -> None:
    assert wishes(NO_PROPERTIES, "guest") == (False, -1, 0)


@pytest.mark.parametrize("octets", [0, 1, 4087, 4088, 4089, 10_000])
def test_a_delivery_is_cut_into_frames_that_the_client_takes(octets: int) -> None:
    properties = pika.BasicProperties(message_id="m", headers={"k": 1})
    _, relayed = content_header(encoded(properties))
    message = Message(b"id", "x", "k", relayed, bytes(octets), False)
    written = delivery_frames(3, "consumer", 9, True, message, 4096)
    method, header, *bodies = read(written)
    assert isinstance(method.method, spec.Basic.Deliver)
    assert (method.method.consumer_tag, method.method.delivery_tag) == ("consumer", 9)
    assert (method.method.redelivered, method.method.exchange) == (True, "x")
    assert method.method.routing_key == "k"
    assert (header.body_size, header.properties) == (octets, properties)
    assert b"".join(each.fragment for each in bodies) == bytes(octets)
    assert all(len(each.fragment) + 8 <= 4096 for each in bodies)
    assert {each.channel_number for each in read(written)} == {3}


def test_a_get_says_how_many_are_left() -> None:
    message = Message(b"id", "", "q", b"\0\0", b"body", False)
    method, header, body = read(get_frames(1, 1, False, message, 7, 4096))
    assert (method.method.message_count, method.method.delivery_tag) == (7, 1)
    assert (header.body_size, body.fragment) == (4, b"body")


@pytest.mark.parametrize("multiple", [False, True])
def test_acks_and_nacks_are_as_a_library_writes_them(multiple: bool) -> None:
    ack = pika_frame.Method(5, spec.Basic.Ack(77, multiple)).marshal()
    nack = pika_frame.Method(5, spec.Basic.Nack(77, multiple, requeue=False)).marshal()
    assert ack_frame(5, 77, multiple) == ack
    assert nack_frame(5, 77, multiple) == nack
    assert read_ack(ack[7:-1]) == (77, multiple)


def test_a_truncated_ack_or_content_header_is_502() -> None:
    for broken in (lambda: read_ack(b"\0\x3c\0\x50\0"), lambda: content_header(b"\0\x3c\0\0")):
        with pytest.raises(AmqpError) as raised:
            broken()
        assert raised.value.code == 502
