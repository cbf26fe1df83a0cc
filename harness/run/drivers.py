"""The client settings of a worker: what it imports, and which client it is."""

from harness.plan.clients.registry import named
from harness.workers.protocol import Driver


def driver(client: str) -> Driver:
    """Raises PlanError where there is no such client."""
    known = named(client)
    return Driver(
        client=known.constructor,
        auditor=known.family.auditor,
        prober=known.family.prober,
        own_threads=known.own_threads,
        packages=tuple(name for name, _ in known.packages),
        how_to_get=known.how_to_get,
    )
