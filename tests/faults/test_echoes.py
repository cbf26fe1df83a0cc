"""Echo requests: their packets, their report, and the program, where it may open a raw socket."""

import pytest

from faults.core.model import FaultError, PacketSamples
from faults.executors import echoes
from faults.executors.core import echo_packets

HEADER = bytes([0x45]) + bytes(19)  # of IPv4, without options
LONGER = bytes([0x46]) + bytes(23)  # with one


def reply(number: int, identifier: int = 7, header: bytes = HEADER) -> bytes:
    packet = echo_packets.request(identifier, number)
    return header + bytes([echo_packets.REPLY]) + packet[1:]


def test_a_request_has_a_right_checksum() -> None:
    assert echo_packets.checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0x220D  # RFC 1071, 3
    assert echo_packets.checksum(echo_packets.request(7, 3)) == 0


@pytest.mark.parametrize("header", [HEADER, LONGER])
def test_an_answer_is_known_by_its_identifier_and_number(header: bytes) -> None:
    assert echo_packets.answered(reply(3, header=header), 7) == 3
    assert echo_packets.answered(reply(3, header=header), 8) is None


@pytest.mark.parametrize("packet", [b"", HEADER, HEADER + echo_packets.request(7, 3), bytes(40)])
def test_a_packet_that_answers_nothing_is_none(packet: bytes) -> None:
    assert echo_packets.answered(packet, 7) is None


def test_a_report_is_read_as_it_was_written() -> None:
    samples = PacketSamples(3, (0.25, 0.5))
    assert samples.lost == 1
    assert echo_packets.samples_of(echo_packets.report(samples), "rmq1 -> rmq2") == samples


@pytest.mark.parametrize(
    "text", ["", "Traceback", "[]", '{"sent": 3}', '{"sent": 1, "seconds": 1}']
)
def test_what_is_no_report_is_an_error(text: str) -> None:
    with pytest.raises(FaultError, match="rmq1 -> rmq2: echo requests said"):
        echo_packets.samples_of(text, "rmq1 -> rmq2")


def test_only_addresses_reach_the_shell() -> None:
    assert echoes.command("10.0.0.2", 100, 0.002, 1.0).endswith("10.0.0.2 100 0.002 1")
    with pytest.raises(ValueError, match="decimal digits"):
        echoes.command("10.0.0.2; reboot", 100, 0.002, 1.0)


def test_this_machine_answers_every_request_of_its_own() -> None:
    try:
        found = echoes.samples("127.0.0.1", 20, 0.001, 5.0)
    except PermissionError:
        pytest.skip("no raw socket without NET_RAW")
    assert (found.sent, found.lost) == (20, 0)
    assert all(0 <= one < 5.0 for one in found.seconds)
