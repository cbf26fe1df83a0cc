"""The incident of seeds/001 in little time: who is kept from sending, until when, and what helps.

Bounds are wide, for they hold on any machine: they distinguish a fault's whole length (100 s)
from a fraction of it (R + P = 25 s by these timers).
"""

from typing import Any

import pytest

from tests.docker.command_line import failing
from tests.docker.conftest import require_docker

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

END_LIMIT_S = 1_500
WHOLE_S, SOON_S = 95.0, 70.0
OLD, LATER = "rocketmq-java-4.9.0", "rocketmq-java-4.9.8"
KEEPS = "+close_socket_if_timeout=false"
BESIDE, APART = "publisher-1", "publisher-2"  # who asks the name server that freezes, and who not


@pytest.fixture(scope="module")
def sendings(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """What is reported of each client's publishers."""
    require_docker()
    folder = tmp_path_factory.mktemp("incident")
    return failing(folder, END_LIMIT_S, "--compressed", "--seed", "7")


@pytest.mark.parametrize("client", [OLD, f"{LATER}{KEEPS}"])
def test_client_that_keeps_the_frozen_name_server_keeps_failing(
    sendings: dict[tuple[str, str], dict[str, Any]], client: str
) -> None:
    one = sendings[client, BESIDE]
    assert one["name_server"] == "rkt1"
    assert one["last_failed_s"] > WHOLE_S
    assert one["left_out_s"] is None


@pytest.mark.parametrize("client", [OLD, LATER, f"{LATER}{KEEPS}"])
def test_a_client_of_the_other_name_server_recovers_in_time(
    sendings: dict[tuple[str, str], dict[str, Any]], client: str
) -> None:
    one = sendings[client, APART]
    assert one["name_server"] == "rkt2"
    assert 0 < one["failed"] < one["sent_by_then"]
    assert one["last_failed_s"] < SOON_S
    assert one["left_out"] == "broker-a"


def test_client_that_leaves_a_hung_name_server_recovers_soon(
    sendings: dict[tuple[str, str], dict[str, Any]],
) -> None:
    one = sendings[LATER, BESIDE]
    assert one["turned_to"] == "rkt2"
    assert one["last_failed_s"] < SOON_S


def test_a_producer_that_avoids_slow_brokers_needs_no_route_update(
    sendings: dict[tuple[str, str], dict[str, Any]],
) -> None:
    one = sendings[f"{OLD}+latency_fault", BESIDE]
    assert one["last_failed_s"] < SOON_S
    assert one["left_out_s"] is None
