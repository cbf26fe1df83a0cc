"""An upstream that is down: the proxy's own connection with itself must not serve its client."""

import asyncio

from faults.proxy.core.model import Proxy
from faults.proxy.listener import Draws, Listeners
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.machine.self_connections import HOST, dialled_from_itself, until_can_listen


@in_a_loop
async def test_a_client_of_the_proxy_is_not_connected_to_an_echo() -> None:
    with dialled_from_itself() as upstream:
        listeners = Listeners(Draws(1))
        where = listeners.open(Proxy("p", f"{HOST}:0", "{}:{}".format(*upstream)))
        reader, writer = await asyncio.open_connection(HOST, int(where.rpartition(":")[2]))
        async with asyncio.timeout(5.0):
            assert await reader.read() == b"", "the client's connection is closed"
        await until_can_listen(upstream)
        writer.close()
        listeners.close_all()
