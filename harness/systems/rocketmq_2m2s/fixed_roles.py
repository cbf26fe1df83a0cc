"""The leaders of layouts with fixed roles: a group's master is configured."""

from collections.abc import Sequence
from dataclasses import replace

from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.systems.rocketmq.layout import MASTER_ID, ServerProcess, brokers


class FixedRoles:
    """leading.Leading. Only an operator changes anything (parts.py)."""

    def __init__(self, layout: Layout) -> None:
        self._brokers = brokers(layout.hosts)

    async def now(self) -> tuple[ServerProcess, ...]:
        return self._brokers

    async def in_sync(
        self,
        master: ServerProcess,  # noqa: ARG002  (the port's)
        slaves: Sequence[ServerProcess],  # noqa: ARG002
    ) -> list[ServerProcess] | None:
        """Return None: no broker reports it."""
        return None

    async def controller(self) -> str:
        return ""

    async def doubts(self) -> tuple[str, ...]:
        return ()

    def slave_on(self, group: str, host: str) -> tuple[ServerProcess, ServerProcess]:
        """The master of a group, and the slave of it on that host. Raises DeployError."""
        own = [one for one in self._brokers if one.group == group]
        slaves = [one for one in own if one.host == host and one.id != MASTER_ID]
        if not slaves:
            raise DeployError(f"{host} has no slave of {group}")
        (master,) = (one for one in own if one.id == MASTER_ID)
        return master, slaves[0]

    def promote(self, master: ServerProcess, slave: ServerProcess) -> None:
        """They change places: an operator has configured them so."""
        places = {master: replace(master, id=slave.id), slave: replace(slave, id=master.id)}
        self._brokers = tuple(places.get(one, one) for one in self._brokers)
