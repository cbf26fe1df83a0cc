"""What py4j logs of a connection that broke does not reach the user; all else does."""

import logging
import socket
from collections.abc import Iterator
from threading import Thread

import pytest
from py4j.java_gateway import GatewayClient, GatewayParameters
from py4j.protocol import ERROR

from spark_analysis.engine.failing import is_worth_logging

COMMAND = "c\nt\ngetVersion\ne\n"  # no JVM reads it


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger()
    logger.addFilter(is_worth_logging)
    yield logger
    logger.removeFilter(is_worth_logging)


@pytest.fixture
def dying_jvm() -> Iterator[int]:
    """Port of a listener that closes each connection, as the kernel does for a killed JVM."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=_close_each, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _close_each(listener: socket.socket) -> None:
    while True:
        try:
            listener.accept()[0].close()
        except OSError:
            return


def test_a_broken_connection_is_an_error_and_not_logged(
    root: logging.Logger, dying_jvm: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = GatewayClient(gateway_parameters=GatewayParameters(port=dying_jvm))
    assert client.send_command(COMMAND) == ERROR
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_without_the_filter_py4j_logs_a_traceback(
    dying_jvm: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = GatewayClient(gateway_parameters=GatewayParameters(port=dying_jvm))
    assert client.send_command(COMMAND) == ERROR
    assert "Exception while sending command." in caplog.messages


def test_other_errors_are_logged(root: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("ours")
    except ValueError:
        root.exception("a defect")
    assert caplog.messages == ["a defect"]
