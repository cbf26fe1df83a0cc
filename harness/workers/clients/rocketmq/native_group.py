"""The group of a C++ consumer as its brokers list it: its library does not report its queues.

1. A member asks any broker of its topic who else is in the group. So its part is right only
   once every broker lists every member: a broker tells each new list to all members at once,
   and they share their queues again.
2. mqproof asks each broker by a connection of its own, so that the library is not disturbed.
"""

import asyncio
from random import Random

from harness.workers.clients.rocketmq.core.likeness import LIKENESSES
from harness.workers.clients.rocketmq.options import readers
from harness.workers.clients.rocketmq.own.brokers import Brokers
from harness.workers.clients.rocketmq.own.name_servers import NameServers
from harness.workers.clients.rocketmq.own.routing import Routing
from harness.workers.host_names import own_table
from harness.workers.protocol import WorkerConfig
from harness.workers.remoting import answers, client_requests
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.rocketmq.connection import Unanswered

LIMIT_S = 40.0  # as long as the other clients wait (own/consumer.py)
SHARED_S = 1.0  # from the last list until the members have shared their queues
LOOK_S = 0.2
ASK_LIMIT_S = 3.0
_FAILURES = (Unanswered, RequestRefused, WireError)


async def wait_for_members(config: WorkerConfig) -> None:
    """Return when every broker lists all members of the group, or after LIMIT_S.

    `config.members` 0: their number is unknown, and nothing is waited for.
    """
    if not config.members:
        return
    brokers, servers = Brokers(LIKENESSES["4.9.8"], own_table()), _name_servers(config)
    routing = Routing(servers, config.queue, LIMIT_S, lambda _: None)
    try:
        async with asyncio.timeout(LIMIT_S):
            while not await _are_listed(config, routing, brokers):
                await asyncio.sleep(LOOK_S)
            await asyncio.sleep(SHARED_S)
    except TimeoutError:
        return  # the load begins as it would have; what is late then is in the record
    finally:
        brokers.close()
        servers.close()


def _name_servers(config: WorkerConfig) -> NameServers:
    dice = Random(config.number)
    return NameServers(LIKENESSES["4.9.8"], config.endpoints, "", dice, lambda _: None)


async def _are_listed(config: WorkerConfig, routing: Routing, brokers: Brokers) -> bool:
    """Ask for the route if there is none yet, and each master for the members of the group."""
    if not routing.view.masters:
        await routing.look()
    request = client_requests.members(readers(config))
    for address in routing.view.masters.values():
        try:
            answer = await brokers.ask(address, request, ASK_LIMIT_S, waits=True)
            if len(answers.members(request, answer)) < config.members:
                return False
        except _FAILURES:
            return False
    return bool(routing.view.masters)
