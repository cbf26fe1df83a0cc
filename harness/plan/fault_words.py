"""PURE: what a fault does and to what, as people read it.

A fault of client links leaves the host itself alone, so its words name the links.
"""

from faults.core.targets import CLIENT_LINK
from faults.kinds import KINDS

_WHOSE = {"publishers": "publishers'", "consumers": "consumers'"}


def fault_words(kind: str, place: str, clients: str = "") -> str:
    """Return `kill ref1`, `hang publishers' links to ref1`. `clients`: whose links it affects."""
    if not affects_links(kind):
        return f"{kind} {place}".strip()
    whose = _WHOSE.get(clients, "clients'")
    links = f"{kind} {whose} links"
    return f"{links} to {place}" if place else links


def resolved_words(words: str, target: str, place: str, beside: str = "") -> str:
    """Return `kill ref1 (master of orders)`. `words`: of the fault at its place, `kill ref1`.
    `beside`: what else ran there."""
    known = [one for one in (target if target != place else "", beside) if one]
    return f"{words} ({', '.join(known)})" if known else words


def role_beside(target: str, role: str) -> str:
    """Return what a host's role says beside the target's words: of `master of orders` and
    `master of orders (2 mirrors, 2 synchronised)`, `2 mirrors, 2 synchronised`; of `mirror of
    orders` and `synchronised mirror of orders`, `a synchronised mirror`."""
    if ";" in role:  # several queues
        return role
    if role.startswith(f"{target} ("):
        return role.removeprefix(f"{target} (").removesuffix(")")
    if not role.endswith(f" {target}"):
        return "" if role == target else role
    state = role.removesuffix(f" {target}")
    return f"{'an' if state[0] in 'aeiou' else 'a'} {state} {target.partition(' ')[0]}"


def affects_links(kind: str) -> bool:
    """Return whether a kind affects the links of clients."""
    declared = KINDS.get(kind)
    return declared is not None and declared.applies_to == CLIENT_LINK
