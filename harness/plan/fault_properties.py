"""PURE: the properties of a fault's kind that the analysis needs, by the kind's own declaration.

A run records them with its windows. For a run without them (an old or foreign one), today's
declaration is used. If the kind is not declared, they stay unknown.
"""

from dataclasses import replace

from faults.kinds import KINDS
from faults.targets import CLIENT, CLIENT_LINK
from spark_analysis.schema.facts import Facts, FaultProperties, Window


def properties_of(kind: str) -> FaultProperties | None:
    declared = KINDS.get(kind)
    if declared is None:
        return None
    return FaultProperties(
        of_clients=declared.applies_to == CLIENT,
        of_client_links=declared.applies_to == CLIENT_LINK,
        ends_broker=declared.ends_broker,
        takes_page_cache=declared.takes_page_cache,
        silences_clients=declared.silences_clients,
        spares_disk=declared.spares_disk,
    )


def with_properties(window: Window) -> Window:
    return window if window.properties else replace(window, properties=properties_of(window.kind))


def with_fault_properties(facts: Facts) -> Facts:
    return replace(facts, windows=tuple(map(with_properties, facts.windows)))
