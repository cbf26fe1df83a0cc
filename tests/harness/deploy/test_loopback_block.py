"""Free blocks of loopback addresses, with real sockets in the way."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harness.cluster.port import WrongInput
from harness.deploy.loopback_block import PROXY_PORT, Block, free_block
from harness.plan.layouts.worker_addresses import ADDRESSES
from harness.systems.reference.core.node import AMQP_PORT, API_PORT, PEER_PORT

PORTS = [(AMQP_PORT, API_PORT, PEER_PORT)] * 3
BLOCK = Block("127.120.200")  # what `drawn(56, 199)` means


def drawn(*numbers: int) -> Callable[[int], int]:
    """Draws these in turn, again and again."""
    left = list(numbers)

    def draw(_: int) -> int:
        left.append(left.pop(0))
        return left[-1]

    return draw


@contextmanager
def squatter(address: str, port: int) -> Iterator[None]:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((address, port))
        one.listen()
        yield


def test_a_free_address_block_is_taken_and_released() -> None:
    assert free_block(PORTS, True, drawn(56, 199)) == BLOCK
    assert free_block(PORTS, True, drawn(56, 199)) == BLOCK


@pytest.mark.parametrize(
    ("address", "port"),
    [
        (BLOCK.host(0), AMQP_PORT),
        (BLOCK.host(2), PEER_PORT),
        (BLOCK.proxy, PROXY_PORT),
    ],
)
def test_port_block_with_one_taken_port_is_skipped(address: str, port: int) -> None:
    with squatter(address, port):
        assert free_block(PORTS, True, drawn(56, 199, 57, 199)) == Block("127.121.200")


def test_a_standard_port_in_use_shifts_all_ports() -> None:
    with squatter(BLOCK.host(1), AMQP_PORT):
        found = free_block(PORTS, True, drawn(56, 199))
    assert found.network == BLOCK.network
    assert {found.port(AMQP_PORT), found.port(PROXY_PORT)} == {6672, 9474}
    assert (BLOCK.host(1), AMQP_PORT) not in set(found.places(PORTS))


def test_without_a_free_block_the_conflict_and_remedy_are_reported() -> None:
    with (
        squatter(BLOCK.host(1), AMQP_PORT),
        squatter(BLOCK.host(1), AMQP_PORT + 1_000),
        squatter(BLOCK.host(1), AMQP_PORT + 3_000),
        pytest.raises(WrongInput, match=r"ports 5672, 6672, 8672 in use; .*: stop it"),
    ):
        free_block(PORTS, True, drawn(56, 199))


def test_fixed_ports_in_use_are_reported() -> None:
    with (
        squatter(BLOCK.host(1), AMQP_PORT),
        pytest.raises(WrongInput, match=r"tried 8, and found ports 5672 in use"),
    ):
        free_block(PORTS, False, drawn(56, 199))


def test_a_host_takes_no_port_of_another_ones() -> None:
    """Name servers and brokers need not be on the same hosts."""
    with squatter(BLOCK.host(0), PEER_PORT):
        assert free_block([(AMQP_PORT,), (PEER_PORT,)], False, drawn(56, 199)) == BLOCK


def test_each_worker_has_a_unique_address() -> None:
    others = {BLOCK.proxy, *map(BLOCK.host, range(20))}
    assert len({*BLOCK.for_workers, *others}) == ADDRESSES + 21


def test_hosts_and_proxy_have_addresses_of_their_own() -> None:
    assert len({BLOCK.proxy, *map(BLOCK.host, range(20))}) == 21


@pytest.mark.parametrize("shift", [0, 1_000, 3_000])
def test_no_port_of_a_block_becomes_another_by_the_shift(shift: int) -> None:
    places = list(Block(BLOCK.network, shift).places(PORTS))
    assert len(set(places)) == len(places) == 10
