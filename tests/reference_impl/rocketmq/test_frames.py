"""Commands of the remoting protocol out of octets, and back."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting import commands as watched
from reference_impl.rocketmq.remoting.command import (
    FRAME_MAX,
    Command,
    Form,
    answer,
    encode,
    request,
)
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.remoting.header import Header, HeaderError

_INT32 = st.integers(-(2**31), 2**31 - 1)
_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_HEADERS = st.builds(
    Header,
    code=st.integers(0, 2**15 - 1),
    opaque=_INT32,
    flag=_INT32,
    remark=_TEXT,
    fields=st.dictionaries(_TEXT, _TEXT, max_size=4),
    language=st.integers(0, 12),
    version=st.integers(0, 2**15 - 1),
)
_COMMANDS = st.builds(
    Command, header=_HEADERS, body=st.binary(max_size=50), form=st.sampled_from(Form)
)


def _frame(header: bytes, body: bytes = b"", form: int = 0) -> bytes:
    return (
        struct.pack(">iI", 4 + len(header) + len(body), form << 24 | len(header)) + header + body
    )


@given(st.lists(_COMMANDS, max_size=4), st.integers(1, 40))
def test_commands_survive_encoding_and_decoding_in_any_pieces(
    commands: list[Command], step: int
) -> None:
    octets = b"".join(map(encode, commands))
    decoder = Decoder()
    found = [
        command
        for at in range(0, len(octets), step)
        for command in decoder.feed(octets[at : at + step])
    ]
    assert found == commands


@given(_COMMANDS)
def test_the_reader_that_watches_servers_understands_the_same(command: Command) -> None:
    (seen,) = watched.Decoder().feed(encode(command))
    own = command.header
    assert (seen.header.code, seen.header.opaque, seen.header.flag) == (
        own.code,
        own.opaque,
        own.flag,
    )
    assert (dict(seen.header.fields), seen.header.remark) == (dict(own.fields), own.remark)
    assert (seen.body, int(seen.form)) == (command.body, int(command.form))


def test_numeric_and_boolean_fields_become_the_text_of_java() -> None:
    header = {"code": 310, "opaque": 1, "extFields": {"e": 3, "m": False, "x": None, "d": 1.5}}
    (command,) = Decoder().feed(_frame(json.dumps(header).encode()))
    assert command.header.fields == {"e": "3", "m": "false", "d": "1.5"}


def test_written_fields_are_text_and_exist_even_if_empty() -> None:
    reply = answer(request(310, 7), 0)
    header = json.loads(encode(reply)[8:])
    assert (header["extFields"], header["opaque"], header["flag"]) == ({}, 7, 1)


def test_an_answer_has_the_form_of_its_request() -> None:
    command = Command(request(310, 7).header, b"", Form.BITS)
    assert answer(command, 0).form is Form.BITS


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (struct.pack(">i", 3), "a frame of 3 octets"),
        (struct.pack(">i", FRAME_MAX + 1), f"a frame of {FRAME_MAX + 1} octets"),
        (struct.pack(">i", -1), "a frame of -1 octets"),
        (struct.pack(">iI", 4, 9), "a header of 9 octets in a frame of 4"),
        (_frame(b"{}", form=2), "no header of form 2"),
        (_frame(b"{"), "no header in JSON"),
        (_frame(b"[]"), "no header in JSON"),
        (_frame(b"[" * 100_000), "no header in JSON"),
        (_frame(b'{"x":' * 100_000), "no header in JSON"),
        (_frame(b'{"opaque": 4294967296}'), "no header in JSON"),
        (_frame(b'{"extFields": {"a": []}}'), "no header in JSON"),
        (_frame(b"\xff\xfe"), "no header in JSON"),
        (_frame(b"", form=1), "no binary header"),
        (
            _frame(struct.pack(">hbhii", 1, 0, 1, 1, 0) + struct.pack(">i", 9), form=1),
            "9 octets are",
        ),
    ],
)
def test_malformed_frames_are_refused_with_their_reason(octets: bytes, why: str) -> None:
    with pytest.raises(HeaderError, match=why):
        Decoder().feed(octets)


def test_a_length_that_is_announced_costs_nothing() -> None:
    decoder = Decoder()
    assert decoder.feed(struct.pack(">iI", FRAME_MAX, 0)) == []
    assert len(decoder._octets) == 8
