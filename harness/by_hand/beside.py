"""Clusters by hand side by side in one Compose project."""

from harness.by_hand.starting import ToStart


async def start_beside(wanted: ToStart) -> None:
    raise NotImplementedError
