"""How certificates of a topology's brokers are checked, as a value for our processes."""

from pathlib import Path

from harness.plan.layouts.topology import SYSTEM_CA, Topology
from harness.systems.topologies import foreign_of
from harness.workers.tls import Trust


def trust_of(topology: Topology, folder: str) -> Trust | None:
    """Return whole paths, and names by ways; None: clients connect without TLS.

    `folder`: where relative paths of the file begin; "" is the current one.
    """
    found = topology.tls
    if found is None:
        return None
    ca = "" if found.ca == SYSTEM_CA else found.ca
    return Trust(
        ca=_whole(ca, folder),
        certificate=_whole(found.certificate, folder),
        key=_whole(found.key, folder),
        hosts={one.host: one.name_checked for one in topology.entrances},
        ways=_ways(topology),
    )


def _whole(path: str, folder: str) -> str:
    return str((Path(folder) / path).absolute()) if path else ""


def _ways(topology: Topology) -> dict[str, str]:
    """By `address:port`; an API is named by its URL, if the file gives no other name."""
    reached = (*topology.brokers, *topology.entrances)
    found = {one.upstream: one.name_checked for one in reached}
    other_ways = foreign_of(topology).other_ways
    for broker in topology.brokers:
        if broker.server_name:
            found |= dict.fromkeys(other_ways(topology, broker.host), broker.server_name)
    return found
