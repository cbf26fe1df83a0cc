"""The client settings of a worker: what it imports, and which client it is."""

from harness.plan.clients.declaration import Client
from harness.workers.protocol import Driver


def driver(client: Client) -> Driver:
    """Return what a worker needs to use the client."""
    return Driver(
        client=client.constructor,
        auditor=client.family.auditor,
        prober=client.family.prober,
        own_threads=client.own_threads,
        packages=tuple(name for name, _ in client.packages),
        how_to_get=client.how_to_get,
    )
