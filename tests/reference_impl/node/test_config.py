"""What a node is told at its start, and what it does not take."""

import json

import pytest

from reference_impl.node.config import parsed


def told(bind: str) -> bytes:
    return json.dumps({"name": "a", "bind": bind, "data": "d"}).encode()


@pytest.mark.parametrize("bind", ["127.0.0.1", "127.3.2.1", "::1", "172.31.7.11", "10.0.0.2"])
def test_it_listens_on_loopback_or_in_its_own_network(bind: str) -> None:
    assert parsed(told(bind)).bind == bind


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "", "8.8.8.8", "localhost", "2001:4860::1"])
def test_it_never_listens_where_anybody_could_dial_it(bind: str) -> None:
    with pytest.raises(ValueError, match=r"neither on loopback .* at `\$\.bind`"):
        parsed(told(bind))
