"""The executor that does nothing and says that it did: with it, every run must end as unknown."""

import time

from faults.compile import KINDS
from faults.model import Action, Receipt


class NothingExecutor:
    """`local`: whether it says so of subprocesses on this machine, or of containers."""

    def __init__(self, local: bool = False) -> None:
        self._local = local

    async def perform(self, action: Action) -> Receipt:  # noqa: ARG002  (the port's word)
        now_ns = time.monotonic_ns()
        return Receipt(issued_ns=now_ns, returned_ns=now_ns)

    def mechanism(self, kind: str) -> str:
        return KINDS[kind].local if self._local else KINDS[kind].mechanism
