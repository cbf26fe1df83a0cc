"""The constructors of fault kinds, one a family.

1. Each is `Kind` with the traits that all kinds of its family have in common.
2. A kind declares all the others: one that it leaves out is an error where it is declared.
3. No family fixes what a kind is to the analysis: each kind declares that for itself.
"""

from functools import partial

from faults.core.actions import ClearImpairment, Impair
from faults.core.kind import HELD_LIMIT_S, Excludes, Kind, Sight
from faults.core.mechanisms import (
    NO_INTERFACES,
    TO_CLIENT_LINKS,
    TO_CLIENTS,
    TO_INTERFACES,
    TO_PROCESSES,
)
from faults.core.options import AffectedClients, FaultOptions
from faults.core.targets import CLIENT, CLIENT_LINK, HOST

process_fault = partial(  # of brokers' processes, by signals
    Kind,
    applies_to=HOST,
    only_on=(),
    offers=TO_PROCESSES,
    by_peer_links={},
    why_not={},
    options=FaultOptions,
    needs=(),
    needs_all=(),
    strikes_processes=True,
    excludes=Excludes.PLACE,
    seen_by=(),
    hides=(Sight.CLIENT_LINKS, Sight.BROKER),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    ends_client=False,
)

client_link_fault = partial(  # of clients' links to a host, by the proxy that they pass
    Kind,
    applies_to=CLIENT_LINK,
    only_on=(),
    offers=TO_CLIENT_LINKS,
    by_peer_links={},
    why_not={},
    needs_all=(),
    may_stay=False,
    strikes_processes=False,
    seen_by=(Sight.CLIENT_LINKS,),
    repeats=False,
    held_limit_s=HELD_LIMIT_S,
    ends_client=False,
    silences_peers=False,
    verify_commanded=None,
)

network_fault = partial(  # of the ways between hosts: their peers meet silence, or slowness
    Kind,
    only_on=(),
    needs=(),
    may_stay=False,
    strikes_processes=False,
    seen_by=(Sight.PEER_LINKS,),
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=True,
    ends_client=False,
    silences_peers=True,
)

packet_fault = partial(  # of the packets that a host sends, by netem on its interfaces
    network_fault,
    applies_to=HOST,
    offers=TO_INTERFACES,
    by_peer_links={},
    why_not=NO_INTERFACES,
    excludes=Excludes.QUEUES,
    hides=(Sight.PEER_LINKS, Sight.CLIENT_LINKS, Sight.BROKER),
    repeats=False,
    actions=(Impair, ClearImpairment),
    verify_commanded=None,
)

client_fault = partial(  # of the processes that publish and consume
    Kind,
    applies_to=CLIENT,
    only_on=(),
    offers=TO_CLIENTS,
    by_peer_links={},
    why_not={},
    options=AffectedClients,
    needs=(),
    needs_all=(),
    strikes_processes=False,
    excludes=Excludes.CLIENTS,
    seen_by=(),
    hides=(),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    silences_peers=False,
    verify_commanded=None,
)
FAMILIES = (process_fault, client_link_fault, network_fault, packet_fault, client_fault)
