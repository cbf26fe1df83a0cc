"""PURE: the properties of a fault's kind that the analysis needs, by the kind's own declaration.

A run records them with its windows. For a run without them (an old or foreign one), today's
declaration is used. If the kind is not declared, they stay unknown.
"""

from dataclasses import replace

from faults.core.kind import Kind
from faults.core.targets import CLIENT, CLIENT_LINK
from faults.kinds import KINDS
from spark_analysis.schema.facts import Facts, FaultProperties, Window


def declared_properties(kind: Kind) -> FaultProperties:
    return FaultProperties(
        of_clients=kind.applies_to == CLIENT,
        of_client_links=kind.applies_to == CLIENT_LINK,
        ends_broker=kind.ends_broker,
        takes_page_cache=kind.takes_page_cache,
        silences_clients=kind.silences_clients,
        spares_disk=kind.spares_disk,
    )


def properties_of(kind: str) -> FaultProperties | None:
    """Return the properties of a recorded kind; None if it is not declared here."""
    return declared_properties(KINDS[kind]) if kind in KINDS else None


def with_properties(window: Window) -> Window:
    return window if window.properties else replace(window, properties=properties_of(window.kind))


def with_fault_properties(facts: Facts) -> Facts:
    parts = facts.windows, facts.not_begun
    windows, not_begun = (tuple(map(with_properties, part)) for part in parts)
    return replace(facts, windows=windows, not_begun=not_begun)
