"""Windows whose lengths contradict each other, or leave nothing to be seen.

1. Two faults that have one thing for themselves (faults.exclusive) may not stand there together.
   Whether late-bound words mean one host is known when the second window opens: here only words
   that always mean the same are held against each other, and any words at one instant.
2. Lengths in layout timers are seconds on a layout only: then the cell cannot run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf

from faults.exclusive import Thing, clash, things
from harness.plan.model import FaultPlan
from harness.plan.targets import parse_target

_TOLD_MAX = 3
_ROLES = {"all": ("publishers", "consumers")}


@dataclass(frozen=True, slots=True)
class Standing:
    """When a fault stands, in seconds after the baseline, and what it has for itself then."""

    kind: str
    target: str
    opens_s: float
    ends_s: float  # inf: nothing in the scenario ends it
    things: frozenset[Thing]


def standing(
    kind: str, target: str, clients: str, resource: str, opens_s: float, ends_s: float
) -> Standing:
    """`clients`, `resource`: faults.model.Options. Raises ValueError where `target` is no word."""
    meant = _ROLES.get(clients, (clients,))
    own = things(
        kind,
        target,
        resource,
        links=[f"{target} of {role}" for role in meant],
        clients=meant if parse_target(target).role == "clients" else (target,),
    )
    return Standing(kind, target, opens_s, ends_s, own)


def stands(fault: FaultPlan, timer_s: float, operated: bool) -> Standing:
    """`operated`: whether operations of the scenario may bring back what never returns."""
    opens_s = fault.opens.resolve_s(timer_s)
    ends_s = opens_s + fault.lasts.resolve_s(timer_s)
    return standing(
        fault.kind,
        fault.target,
        fault.options.clients,
        fault.options.resource,
        opens_s,
        ends_s if fault.returns or operated else inf,
    )


def problems(faults: Mapping[int, Standing]) -> Iterator[tuple[int, str]]:
    """The number of each fault that opens where an earlier one stands, and what is wrong; of one
    that opens where many stand, the first few."""
    standing: list[int] = []  # those that opened, and have not ended
    for number in sorted(faults, key=lambda number: faults[number].opens_s):
        opens_s = faults[number].opens_s
        standing = [earlier for earlier in standing if opens_s < faults[earlier].ends_s]
        clashing = (one for one in standing if _clash(faults[one], faults[number]))
        for earlier in islice(clashing, _TOLD_MAX):
            yield number, _text(earlier, faults[earlier])
        standing.append(number)


def flap_problem(down_s: float, up_s: float, lasts_s: float) -> str:
    """Why nobody could see a flap in a window of this length; "": somebody can."""
    if lasts_s > down_s + up_s:
        return ""
    return (
        f"a flap is seen when it was cut, joined and cut again: its window must last longer "
        f"than down and up together ({down_s + up_s:g} s)"
    )


def _clash(earlier: Standing, later: Standing) -> bool:
    """`earlier` stands when `later` opens."""
    if not clash(earlier.things, later.things):
        return False
    return earlier.opens_s == later.opens_s or _is_fixed(later.target)


def _is_fixed(word: str) -> bool:
    return parse_target(word).role in ("host", "process", "name_servers", "client", "clients")


def _text(number: int, earlier: Standing) -> str:
    if earlier.ends_s == inf:
        return f"fault {number} ({earlier.kind} {earlier.target}) has it for good"
    return (
        f"it opens while fault {number} ({earlier.kind} {earlier.target}) stands there: the end "
        f"of one would undo the other"
    )
