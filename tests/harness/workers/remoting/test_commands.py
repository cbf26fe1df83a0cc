"""Commands come back as they were sent, however the octets are cut, and nonsense is reported."""

import contextlib
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting.commands import FRAME_MAX, Command, Decoder, encode
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.headers import LANGUAGES, Header, Serialisation

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
HEADERS = st.builds(
    Header,
    code=st.integers(0, (1 << 15) - 1),
    opaque=INT32,
    flag=INT32,
    remark=TEXT,
    fields=st.dictionaries(TEXT, TEXT, max_size=5),
    language=st.integers(0, len(LANGUAGES) - 1),
    version=st.integers(0, (1 << 15) - 1),
)
COMMANDS = st.builds(
    Command, HEADERS, st.binary(max_size=60), st.sampled_from(list(Serialisation))
)


@given(st.lists(COMMANDS, max_size=4), st.data())
def test_commands_survive_any_split_of_their_bytes(
    sent: list[Command], data: st.DataObject
) -> None:
    octets = b"".join(encode(command) for command in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(octets)), max_size=6)))
    decoder, heard = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(octets)], strict=True):
        heard += decoder.feed(octets[start:end])
    assert heard == sent


@given(st.binary(max_size=200))
def test_nonsense_is_refused_or_waited_for_and_nothing_else(octets: bytes) -> None:
    with contextlib.suppress(WireError):
        Decoder().feed(octets)


def test_a_stream_that_was_wrong_once_stays_wrong() -> None:
    decoder = Decoder()
    for octets in (struct.pack(">i", -1), encode(Command(Header(0, 1)))):
        with pytest.raises(WireError, match="a frame of -1 octets"):
            decoder.feed(octets)


@given(COMMANDS, st.data())
def test_frame_with_a_wrong_byte_is_read_or_refused(command: Command, data: st.DataObject) -> None:
    octets = bytearray(encode(command))
    octets[data.draw(st.integers(4, len(octets) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        (heard,) = Decoder().feed(bytes(octets))
    except WireError:
        return
    assert isinstance(heard, Command)


@pytest.mark.parametrize("length", [-1, 3, FRAME_MAX - 3])
def test_impossible_frame_length_is_refused_before_waiting_for_more(length: int) -> None:
    with pytest.raises(WireError, match="a frame of"):
        Decoder().feed(struct.pack(">i", length))


def test_a_header_longer_than_its_frame_is_refused() -> None:
    with pytest.raises(WireError, match="a header of 9 octets in a frame of 6"):
        Decoder().feed(struct.pack(">iI", 6, 9) + b"{}")


def test_a_serialisation_that_is_unknown_is_refused() -> None:
    with pytest.raises(WireError, match="no serialisation 2"):
        Decoder().feed(struct.pack(">iI", 6, 2 << 24 | 2) + b"{}")


def test_request_writes_every_field_as_a_string_for_native_clients() -> None:
    octets = encode(Command(Header(105, 7, fields={"topic": "orders", "queueId": "0"})))
    mark = int.from_bytes(octets[4:8])
    assert mark >> 24 == 0
    header = json.loads(octets[8 : 8 + (mark & 0xFFFFFF)])
    assert header == {
        "code": 105,
        "language": "PYTHON",
        "version": 409,
        "opaque": 7,
        "flag": 0,
        "extFields": {"topic": "orders", "queueId": "0"},
        "serializeTypeCurrentRPC": "JSON",
    }


def _answer(header: str) -> Command:
    octets = header.encode()
    (command,) = Decoder().feed(struct.pack(">iI", 4 + len(octets), len(octets)) + octets)
    return command


def test_non_string_fields_are_read_as_java_would_send_them() -> None:
    command = _answer('{"code":0,"opaque":1,"flag":1,"extFields":{"a":5,"b":true,"c":null}}')
    assert command.header.fields == {"a": "5", "b": "true"}
    assert command.answers


def test_absent_header_fields_read_as_empty() -> None:
    header = _answer('{"code":17,"opaque":3,"language":"KLINGON"}').header
    assert (header.flag, header.remark, dict(header.fields)) == (0, "", {})
    assert LANGUAGES[header.language] == "OTHER"


@pytest.mark.parametrize(
    "header",
    ["[]", '{"code":"0"}', '{"opaque":true}', '{"extFields":[1]}', '{"extFields":{"a":{}}}', "{"],
)
def test_a_header_that_is_not_one_is_refused(header: str) -> None:
    with pytest.raises(WireError):
        _answer(header)
