"""Every method, against a library's encoder."""

from collections.abc import Mapping
from typing import Any

import pamqp.commands
import pamqp.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.amqp.codec import methods
from reference_impl.amqp.codec.method import Method, wire_types
from reference_impl.amqp.codec.queue_methods import BasicQos, QueueDeclare
from reference_impl.amqp.rules.errors import AmqpError
from tests.reference_impl.amqp.test_wire import tables

KINDS = sorted(methods._KINDS.values(), key=lambda kind: kind.index)
LIBRARY_KINDS = [kind for kind in KINDS if kind.index[0] != 30]  # it has no class access
# pamqp checks names and fixed fields more strictly than AMQP's grammar, so values are tame.
_name = st.text(st.sampled_from("abcdefghij.-_:"), min_size=1, max_size=30)
_STRATEGIES = {
    "octet": st.integers(0, 255),
    "short": st.integers(0, 65_535),
    "long": st.integers(0, 2**32 - 1),
    "longlong": st.integers(0, 2**64 - 1),
    "shortstr": _name,
    "longstr": _name.map(str.encode),
    "bit": st.booleans(),
    "table": tables,
}


# pamqp reads a longlong as a signed number; RabbitMQ and the specification do not.
_LIBRARY = {**_STRATEGIES, "longlong": st.integers(0, 2**63 - 1)}


def values_of(
    kind: type[Method], by: Mapping[str, Any] = _STRATEGIES
) -> st.SearchStrategy[Method]:
    return st.builds(kind, *[by[each] for each in wire_types(kind)])


def values_for_the_library(kind: type[Method]) -> st.SearchStrategy[Method]:
    return values_of(kind, _LIBRARY)


@given(st.sampled_from(KINDS).flatmap(values_of))
def test_a_method_is_read_as_it_was_written(method: Method) -> None:
    assert methods.decode(methods.encode(method)) == method


@given(st.sampled_from(LIBRARY_KINDS).flatmap(values_for_the_library), st.integers(0, 65_535))
def test_another_library_reads_our_methods(method: Method, channel: int) -> None:
    octets = methods.method_frame(channel, method)
    consumed, of_channel, read = pamqp.frame.unmarshal(octets)
    assert (consumed, of_channel) == (len(octets), channel)
    assert read.index == method.index[0] << 16 | method.index[1]
    ours = [getattr(method, name) for name in type(method).__struct_fields__]
    theirs = [value for _, value in read]
    assert [_plain(value) for value in theirs] == [_plain(value) for value in ours]


def test_every_method_that_a_server_needs_is_known() -> None:
    assert {kind.index for kind in KINDS} >= {
        *((10, number) for number in (10, 11, 30, 31, 40, 41, 50, 51, 70, 71)),
        *((20, number) for number in (10, 11, 20, 21, 40, 41)),
        *((30, number) for number in (10, 11)),
        *((40, number) for number in (10, 11, 20, 21, 30, 31, 40, 51)),
        *((50, number) for number in (10, 11, 20, 21, 30, 31, 40, 41, 50, 51)),
        *((60, number) for number in (10, 11, 20, 21, 30, 31, 40, 50, 60, 70, 71, 72)),
        *((60, number) for number in (80, 90, 100, 110, 111, 120)),
        *((85, number) for number in (10, 11)),
        *((90, number) for number in (10, 20, 30)),
    }


def test_an_unknown_method_is_503() -> None:
    with pytest.raises(AmqpError) as raised:
        methods.decode(b"\0\x3c\0\xc8")
    assert raised.value.code == 503


def test_a_truncated_method_is_502_and_names_itself() -> None:
    whole = methods.encode(QueueDeclare(0, "q", False, True, False, False, False, {"x": 1}))
    for cut in range(4, len(whole)):
        with pytest.raises(AmqpError) as raised:
            methods.decode(whole[:cut])
        assert (raised.value.code, raised.value.index) == (502, (50, 10))


def test_an_error_text_begins_with_its_name_within_255_octets() -> None:
    error = AmqpError(404, "no queue '" + "ü" * 200 + "'")
    assert len(error.text.encode()) <= 255
    assert error.text.startswith("NOT_FOUND - no queue 'ü")
    assert error.text.endswith("...")


def test_soft_errors_are_the_channels_and_hard_ones_the_connections() -> None:
    soft, hard = (311, 312, 313, 403, 404, 405, 406), (320, 402, 501, 502, 503, 504, 505, 506)
    assert not any(AmqpError(code, "").hard for code in soft)
    assert all(AmqpError(code, "").hard for code in (*hard, 530, 540, 541))


def test_qos_has_its_flag_behind_the_counts() -> None:
    assert (
        methods.encode(BasicQos(0, 7, True)) == b"\0\x3c\0\x0a" + b"\0\0\0\0" + b"\0\x07" + b"\x01"
    )


def _plain(value: object) -> object:
    return value.encode() if isinstance(value, str) else value
