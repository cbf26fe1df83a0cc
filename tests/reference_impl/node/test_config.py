"""A node's configuration, and what it refuses."""

import json

import pytest

from reference_impl.node.config import parsed
from tests.reference_impl.nodes import COOKIE


def configured(bind: str) -> bytes:
    return json.dumps({"name": "a", "bind": bind, "data": "d", "cookie": COOKIE}).encode()


@pytest.mark.parametrize("bind", ["127.0.0.1", "127.3.2.1", "::1", "172.31.7.11", "10.0.0.2"])
def test_a_node_listens_on_loopback_or_its_own_network(bind: str) -> None:
    assert parsed(configured(bind)).bind == bind


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "", "8.8.8.8", "localhost", "2001:4860::1"])
def test_a_node_refuses_publicly_reachable_addresses(bind: str) -> None:
    with pytest.raises(ValueError, match=r"neither on loopback .* at `\$\.bind`"):
        parsed(configured(bind))


@pytest.mark.parametrize("cookie", ["", "too short"])
def test_a_cookie_that_could_be_guessed_is_not_taken(cookie: str) -> None:
    document = json.loads(configured("127.0.0.1")) | {"cookie": cookie}
    with pytest.raises(ValueError, match=r"at least 16 octets - at `\$\.cookie`"):
        parsed(json.dumps(document).encode())


def test_there_is_no_default_cookie() -> None:
    document = json.loads(configured("127.0.0.1"))
    del document["cookie"]
    with pytest.raises(ValueError, match="missing required field `cookie`"):
        parsed(json.dumps(document).encode())


def test_a_printed_configuration_hides_its_cookie() -> None:
    assert COOKIE not in repr(parsed(configured("127.0.0.1")))


@pytest.mark.parametrize("name", ["", "n" * 256])
def test_a_name_fits_into_a_handshake(name: str) -> None:
    document = json.loads(configured("127.0.0.1")) | {"name": name}
    with pytest.raises(ValueError, match=r"1 to 255 octets - at `\$\.name`"):
        parsed(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"partition_handling": "pause_if_all_down"}, "pause_if_all_down needs them"),
        ({"preferred": ["a"]}, "pause_if_all_down needs them, and nothing else"),
        (
            {"partition_handling": "pause_if_all_down", "preferred": ["a", "z"]},
            "no node is named 'z', but a",
        ),
        ({"partition_handling": "pause"}, "partition_handling"),
    ],
)
def test_partition_handling_is_configured_completely(
    more: dict[str, object], problem: str
) -> None:
    document = json.loads(configured("127.0.0.1")) | more
    with pytest.raises(ValueError, match=problem):
        parsed(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("founders", "problem"),
    [(["b"], "a must be one of them"), (["a", "z"], "no address to dial 'z'")],
)
def test_a_node_must_be_a_founder_and_know_all_addresses(
    founders: list[str], problem: str
) -> None:
    peers = {"b": ["127.0.0.2", 1]}
    document = json.loads(configured("127.0.0.1")) | {"peers": peers, "founders": founders}
    with pytest.raises(ValueError, match=problem):
        parsed(json.dumps(document).encode())


def test_those_that_are_preferred_are_among_its_nodes() -> None:
    more = {"partition_handling": "pause_if_all_down", "preferred": ["b"], "recover": "autoheal"}
    document = json.loads(configured("127.0.0.1")) | {"peers": {"b": ["127.0.0.2", 1]}} | more
    assert parsed(json.dumps(document).encode()).preferred == ("b",)
