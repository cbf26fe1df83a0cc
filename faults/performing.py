"""Carries the actions of a fault out, one after another, as one deed with one receipt."""

from faults.core.actions import Action
from faults.core.model import Executor, Receipt


async def perform_all(executor: Executor, actions: tuple[Action, ...]) -> Receipt:
    """From before the first was issued until the last had returned. Raises FaultError.

    What came after a failure was not issued; what came before it has to be undone all the same.
    """
    receipts = [await executor.perform(action) for action in actions]
    dropped = tuple(host for receipt in receipts for host in receipt.dropped)
    return Receipt(receipts[0].issued_ns, receipts[-1].returned_ns, dropped)
