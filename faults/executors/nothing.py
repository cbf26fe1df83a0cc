"""The executor that does nothing and says that it did: with it, every run must end as unknown."""

import time

from faults.model import Action, Receipt


class NothingExecutor:
    async def perform(self, action: Action) -> Receipt:  # noqa: ARG002  (the port's word)
        now_ns = time.monotonic_ns()
        return Receipt(issued_ns=now_ns, returned_ns=now_ns)
