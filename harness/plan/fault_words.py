"""PURE: what a fault does and to what, as people read it.

A fault of client links leaves the host itself alone, so its words name the links.
"""

from faults.kinds import KINDS
from faults.targets import CLIENT_LINK

_WHOSE = {"publishers": "publishers'", "consumers": "consumers'"}


def fault_words(kind: str, place: str, clients: str = "") -> str:
    """Return `kill ref1`, `hang publishers' links to ref1`. `clients`: whose links it affects."""
    if not affects_links(kind):
        return f"{kind} {place}".strip()
    whose = _WHOSE.get(clients, "clients'")
    links = f"{kind} {whose} links"
    return f"{links} to {place}" if place else links


def affects_links(kind: str) -> bool:
    """Return whether a kind affects the links of clients."""
    declared = KINDS.get(kind)
    return declared is not None and declared.applies_to == CLIENT_LINK
