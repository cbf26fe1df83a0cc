"""Listeners of the proxy where brokers are known by name: one for each worker and server.

1. Each worker has an address of the proxy's for itself while its run lasts
   (deploy/compose/worker_ways.py). There every server has a listener at its own port, so that the
   names that name servers show lead through it for all that resolve them to that address.
2. A link has the process that it leads to: a client knows only name servers, and finds brokers by
   itself.
3. An auditor speaks to one broker by its place, through a listener that no fault names.
"""

import asyncio
from collections.abc import Mapping, Sequence

from harness.cluster.links import DIRECT
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Link
from harness.systems.rocketmq.api import ProcessAgent
from harness.systems.rocketmq.core.layout import ServerProcess
from harness.workers.protocol import Endpoint, Role

_LIMIT_S = 10.0
_ADDRESS_LIMIT_S = 15.0  # until the proxy has an address


class RocketLinks:
    """`proxy`: where auditors dial; `free`: the proxy's addresses for workers; `addresses`: where
    listeners lead, by host; `voters`: of these servers, those who take part in elections."""

    def __init__(
        self,
        agent: ProcessAgent,
        proxy: str,
        free: Sequence[str],
        servers: Sequence[ServerProcess],
        addresses: Mapping[str, str],
        voters: Sequence[ServerProcess],
    ) -> None:
        self._agent = agent
        self._proxy = proxy
        self._free = list(free)
        self._servers = servers
        self._addresses = addresses
        self._voters = voters
        self._taken: dict[tuple[str, str], str] = {}  # (run, worker) -> its address
        self._ways: dict[str, tuple[str, int]] = {}  # listener -> where it is dialled

    async def make(self, run: str, worker: str) -> tuple[Link, ...]:
        """A listener to each name server and broker, in the layout's order; a prober has one to
        each voter."""
        if not self._free:
            raise DeployError(
                f"{worker} has no address left: {len(self._taken)} workers have them all"
            )
        address = self._taken[run, worker] = self._free.pop(0)
        dialled = [one for one in self._servers if one.is_broker or one.is_name_server]
        links = [self._link(run, worker, server, address) for server in dialled]
        if worker.startswith(f"{Role.PROBER.value}-"):
            links += [self._votes(run, worker, server, address) for server in self._voters]
        return tuple(await asyncio.gather(*links))

    async def remove(self, run: str) -> None:
        prefix = f"mqproof.{run}."
        await self._agent.call("proxy_delete", _LIMIT_S, prefix=prefix)
        for name in [name for name in self._ways if name.startswith(prefix)]:
            del self._ways[name]
        for place in [place for place in self._taken if place[0] == run]:
            self._free.append(self._taken.pop(place))

    async def direct(self, host: str) -> Endpoint:
        """Of a host's broker. Raises DeployError where it has none."""
        brokers = [one for one in self._servers if one.host == host and one.is_broker]
        if not brokers:
            raise DeployError(f"{host} has no broker: there is nothing to read")
        name = f"{DIRECT}.{host}"
        if name not in self._ways:
            await self._listen(name, brokers[0], "", brokers[0].port)
        return Endpoint(host, *self._ways[name])

    def dial(self, name: str) -> tuple[str, int]:
        """A listener by its name, as the agent and workers dial it."""
        return self._ways[name]

    def names_mean(self, worker: str) -> str | None:
        """A worker's own address of the proxy's; None for who has no links."""
        found = [address for (_, name), address in self._taken.items() if name == worker]
        return found[-1] if found else None

    async def _link(self, run: str, worker: str, server: ServerProcess, address: str) -> Link:
        name = f"mqproof.{run}.{worker}.{server.host}.{server.process}"
        endpoint = await self._open(name, server, address, server.port)
        return Link(worker, server.host, name, endpoint, server.process)

    async def _votes(self, run: str, worker: str, server: ServerProcess, address: str) -> Link:
        name = f"mqproof.{run}.{worker}.{server.host}.{server.process}.votes"
        endpoint = await self._open(name, server, address, server.votes_at)
        return Link(worker, server.host, name, endpoint, server.process, votes=True)

    async def _open(self, name: str, server: ServerProcess, address: str, port: int) -> Endpoint:
        """At the proxy's address the port is the server's own."""

        async def listen() -> int:
            return await self._listen(name, server, f"{address}:{port}", port)

        await until(listen, bool, _ADDRESS_LIMIT_S)
        return Endpoint(server.host, address, port)

    async def _listen(self, name: str, server: ServerProcess, listen: str, port: int) -> int:
        upstream = f"{self._addresses[server.host]}:{port}"
        made = await self._agent.call(
            "proxy_create", _LIMIT_S, name=name, upstream=upstream, listen=listen
        )
        listens_at = int(made["port"])
        self._ways[name] = (listen.rpartition(":")[0] or self._proxy, listens_at)
        return listens_at
