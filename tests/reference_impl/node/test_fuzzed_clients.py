"""Whatever clients say, no process of a node crashes, and a client that behaves is served."""

import pytest

from reference_impl.amqp.codec.methods import encode, method_frame
from reference_impl.amqp.codec.queue_methods import QueueDeclare, QueueDeclareOk
from tests.reference_impl.amqp.client import handshake
from tests.reference_impl.fuzzing import Fuzzer, opening
from tests.reference_impl.node.stage import Stage

PIECES = 40  # of a client at most; some are closed before


@pytest.mark.parametrize("clients", [400, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_no_process_crashes_whatever_clients_say(clients: int) -> None:
    stage = Stage()
    stage.begin()
    fuzzer = Fuzzer(7)
    for _ in range(clients):
        client = stage.node.accept("127.0.0.1:1 -> 127.0.0.1:2")
        for octets in fuzzer.client(PIECES):
            stage.node.octets(client, octets)
            stage.node.run()
        stage.node.hung_up(client)
        stage.node.run()
        assert not [line for line in stage.out.lines if "crashed" in line]
    assert is_served(stage)


def is_served(stage: Stage) -> bool:
    """Whether a queue is declared for one that says what is right."""
    client = stage.node.accept("127.0.0.1:3 -> 127.0.0.1:2")
    declare = QueueDeclare(0, "canary", False, False, False, False, False, {})
    stage.node.octets(client, handshake() + opening(1) + method_frame(1, declare))
    stage.node.run()
    heard = b"".join(stage.out.transmitted.get(client, []))
    return encode(QueueDeclareOk("canary", 0, 0)) in heard
