"""The executor that does nothing and says that it did: with it, every run must end as unknown."""

import time

from faults.actions import Action
from faults.kinds import COMPOSE, KINDS, LOCAL
from faults.model import Receipt


class NothingExecutor:
    """`local`: whether it says so of subprocesses on this machine, or of containers."""

    def __init__(self, local: bool = False) -> None:
        self._local = local

    async def perform(self, action: Action) -> Receipt:  # noqa: ARG002  (the port's word)
        now_ns = time.monotonic_ns()
        return Receipt(issued_ns=now_ns, returned_ns=now_ns)

    def mechanism(self, kind: str) -> str:
        return KINDS[kind].offers[LOCAL if self._local else COMPOSE]
