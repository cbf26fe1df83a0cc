"""Clients' ways to brokers where there is no proxy between them: none that a fault could name."""

from collections.abc import Mapping
from typing import NoReturn

from harness.cluster.port import Link
from harness.workers.protocol import Endpoint


class DirectLinks:
    """`ways`: host -> address and port, in the layout's order; `processes`: as of Links."""

    def __init__(
        self, ways: Mapping[str, tuple[str, int]], processes: Mapping[str, str] | None = None
    ) -> None:
        self._ways = dict(ways)
        self._processes = dict(processes or {})

    async def make(self, run: str, worker: str) -> tuple[Link, ...]:  # noqa: ARG002  (as Links)
        return tuple(
            Link(worker, host, "", Endpoint(host, *way), self._processes.get(host, ""))
            for host, way in self._ways.items()
        )

    async def remove(self, run: str) -> None:
        """There is nothing to be removed."""

    def dial(self, name: str) -> NoReturn:
        raise KeyError(name)  # as for every unknown listener
