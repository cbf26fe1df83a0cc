"""The executor that does nothing and says that it did: with it, every run must end as unknown."""

import time

from faults.core.actions import Action
from faults.core.mechanisms import COMPOSE, DIRECT, LOCAL
from faults.core.model import Receipt
from faults.kinds import mechanism


class NothingExecutor:
    """`local`: whether it says so of subprocesses on this machine, or of containers; then
    `peer_links` of the layout."""

    def __init__(self, local: bool = False, peer_links: str = DIRECT) -> None:
        self._local = local
        self._peer_links = peer_links

    async def perform(self, action: Action) -> Receipt:  # noqa: ARG002  (the port's word)
        now_ns = time.monotonic_ns()
        return Receipt(issued_ns=now_ns, returned_ns=now_ns)

    def mechanism(self, kind: str) -> str:
        return mechanism(kind, LOCAL if self._local else COMPOSE, self._peer_links)
