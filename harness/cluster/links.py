"""Listeners of the proxy: one for each worker and host, one for each host that no fault means.

1. They are made by the agent; the names of a run's begin with the run's, so that they go together.
2. An auditor's way is a listener, too, but one that no fault names.
"""

import asyncio
from collections.abc import Mapping

from harness.cluster.agent import AgentClient
from harness.cluster.port import Link
from harness.workers.protocol import Endpoint

_LIMIT_S = 10.0
DIRECT = "mqproof-direct"  # no run's listener begins so


class Links:
    """`proxy`: where listeners are dialled; `upstreams`: host -> `address:port`, in order;
    `entrances`: the same where workers have other ways than auditors; `processes`: host -> the
    word of the process that a link leads to, where clients choose links by it."""

    def __init__(
        self,
        agent: AgentClient,
        proxy: str,
        upstreams: Mapping[str, str],
        entrances: Mapping[str, str] | None = None,
        processes: Mapping[str, str] | None = None,
    ) -> None:
        self._agent = agent
        self._proxy = proxy
        self._upstreams = dict(upstreams)
        self._entrances = dict(entrances or upstreams)
        self._processes = dict(processes or {})
        self._ports: dict[str, int] = {}

    async def make(self, run: str, worker: str) -> tuple[Link, ...]:
        """A listener to each host, or to what stands before them."""
        names = {host: f"mqproof.{run}.{worker}.{host}" for host in self._entrances}
        ports = await asyncio.gather(
            *(self.listen(name, self._entrances[host]) for host, name in names.items())
        )
        return tuple(
            Link(
                worker,
                host,
                name,
                Endpoint(host, self._proxy, port),
                self._processes.get(host, ""),
            )
            for (host, name), port in zip(names.items(), ports, strict=True)
        )

    async def remove(self, run: str) -> None:
        prefix = f"mqproof.{run}."
        await self._agent.call("proxy_delete", _LIMIT_S, prefix=prefix)
        for name in [name for name in self._ports if name.startswith(prefix)]:
            del self._ports[name]

    async def direct(self, host: str) -> Endpoint:
        name = f"{DIRECT}.{host}"
        port = self._ports.get(name) or await self.listen(name, self._upstreams[host])
        return Endpoint(host, self._proxy, port)

    def dial(self, name: str) -> tuple[str, int]:
        """A listener by its name, as the agent and workers dial it."""
        return self._proxy, self._ports[name]

    def names_mean(self, worker: str) -> None:
        """Do nothing: workers get addresses."""

    async def listen(self, name: str, upstream: str) -> int:
        made = await self._agent.call("proxy_create", _LIMIT_S, name=name, upstream=upstream)
        port = self._ports[name] = int(made["port"])
        return port
