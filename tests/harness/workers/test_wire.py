"""One pika connection: what its library does wrong is kept from the worker."""

import asyncio
from typing import Any

import pika

from harness.workers.clients.amqp_wire import _Connection
from tests.rigs.machine.loops import in_a_loop


@in_a_loop
async def test_abandoned_attempt_may_be_reported_again_on_reset() -> None:
    ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    silent = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    connection = _Connection(
        pika.ConnectionParameters("127.0.0.1", port),
        on_open_error_callback=lambda _, error: ended.set_result(error),
        custom_ioloop=asyncio.get_running_loop(),
    )
    workflow = connection._connection_workflow
    connection.close()
    assert isinstance(await ended, pika.exceptions.ConnectionOpenAborted)
    workflow._on_connector_done(ConnectionResetError(104, "Connection reset by peer"))
    assert connection.is_closed
    silent.close()
