"""The incident of seeds/001 on the reference, as a newcomer plays it: no Docker, no Java.

Bounds are wide, for they hold on any machine: what is reported apart is the freeze's whole length
(13 s: 8, and the looks at it) and what T and a poll come to (5 s), and a send's own time-out (3 s)
and some besides.
"""

from typing import Any

import pytest

from tests.docker.command_line import failing

pytestmark = [pytest.mark.slow, pytest.mark.long]

END_LIMIT_S = 400
WHOLE_S, SOON_S = 11.5, 10.0
OLD, LATER = "rocketmq-python-4.9.0", "rocketmq-python-4.9.8"
CLIENTS = (OLD, LATER, "rocketmq-python-5.2.0", "rocketmq-python-5.3.3")
BESIDE, APART = "publisher-1", "publisher-2"  # who asks the name server that freezes, and who not


@pytest.fixture(scope="module")
def sendings(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """What is reported of each client's publishers."""
    folder = tmp_path_factory.mktemp("incident")
    return failing(
        folder, END_LIMIT_S, "--system", "reference-2m2s", "--compressed", "--seed", "7"
    )


def test_client_that_keeps_the_frozen_name_server_keeps_failing(
    sendings: dict[tuple[str, str], dict[str, Any]],
) -> None:
    one = sendings[OLD, BESIDE]
    assert one["name_server"] == "rkt1"
    assert one["last_failed_s"] > WHOLE_S


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_the_other_name_server_recovers_in_time(
    client: str, sendings: dict[tuple[str, str], dict[str, Any]]
) -> None:
    one = sendings[client, APART]
    assert one["name_server"] == "rkt2"
    assert 0 < one["failed"] < one["sent_by_then"]
    assert one["last_failed_s"] < SOON_S
    assert one["left_out"] == "broker-a"


@pytest.mark.parametrize("client", [LATER, "rocketmq-python-5.3.3"])
def test_client_that_leaves_a_hung_name_server_recovers_soon(
    client: str, sendings: dict[tuple[str, str], dict[str, Any]]
) -> None:
    one = sendings[client, BESIDE]
    assert one["turned_to"] == "rkt2"
    assert one["last_failed_s"] < SOON_S
