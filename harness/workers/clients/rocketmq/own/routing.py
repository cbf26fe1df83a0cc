"""The route of one topic, as the client believes in it.

1. It is asked for at the start, and then every poll_s. Where no answer comes, or none with a
   route, the old one stays: nothing is taken back for want of news.
2. Messages go to the queues of brokers that have a master, by the order of their names.
"""

import asyncio
from collections.abc import Callable

from harness.workers.clients.rocketmq.core.sharing import Place
from harness.workers.clients.rocketmq.own.name_servers import NameServers
from harness.workers.remoting import answers, requests
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.requests import PERM_READ, PERM_WRITE
from harness.workers.remoting.routes import MASTER_ID, NOWHERE, View
from harness.workers.rocketmq.connection import Unanswered


class Routing:
    """`changed` is called with each new route."""

    def __init__(
        self,
        servers: NameServers,
        topic: str,
        poll_s: float,
        changed: Callable[[View], None],
    ) -> None:
        self._servers = servers
        self._topic = topic
        self._poll_s = poll_s
        self._changed = changed
        self.view = NOWHERE

    async def look(self) -> str:
        """Asks once; why there was no route, or ""."""
        request = requests.route(self._topic)
        try:
            view = answers.route(request, await self._servers.ask(request))
        except (Unanswered, RequestRefused, WireError) as failure:
            return str(failure)
        if view == NOWHERE:
            return "no broker has it"
        if view != self.view:
            self.view = view
            self._changed(view)
        return ""

    async def go_on(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(self._poll_s)
            await self.look()

    def written(self) -> list[Place]:
        """Queues that may be written to."""
        masters = self.view.masters
        return [
            (queues.broker, number)
            for queues in self.view.queues
            if queues.perm & PERM_WRITE and queues.broker in masters
            for number in range(queues.write)
        ]

    def read(self) -> list[Place]:
        """Queues that may be read, from a master or a slave."""
        return [
            (queues.broker, number)
            for queues in self.view.queues
            if queues.perm & PERM_READ
            for number in range(queues.read)
        ]

    def address(self, broker: str) -> str:
        """Its master's; where there is none its slave's; "" where there is neither."""
        found = sorted((one.id, one.address) for one in self.view.brokers if one.broker == broker)
        return found[0][1] if found else ""

    def master(self, broker: str) -> str:
        return self.view.masters.get(broker, "")

    def every_address(self) -> list[tuple[str, bool]]:
        """Of all brokers of the route, and whether it is a master's."""
        return [(one.address, one.id == MASTER_ID) for one in self.view.brokers]
