"""The claims that can apply to a system at all, by the declarations of its layouts.

1. A claim is left out only if a condition on a declared fact is false, or makes no sense, on every
   layout. A condition that only a run decides leaves none out.
"""

from collections.abc import Iterable, Mapping

from harness.claims.claims import Claim
from harness.claims.values import exactly, holds
from harness.plan.declared import Declared

Facts = Mapping[str, Declared]


def concerning(claims: Iterable[Claim], layouts: Iterable[Facts]) -> list[Claim]:
    """Return the claims that may apply on one of the layouts, in their order."""
    every = list(layouts)
    return [claim for claim in claims if any(_may_apply(claim, facts) for facts in every)]


def _may_apply(claim: Claim, facts: Facts) -> bool:
    for condition in claim.precondition:
        declared = facts.get(condition.fact)
        if isinstance(declared, dict):
            if "not_applicable" in declared:
                return False
            continue  # a bound: a run knows more
        if declared is None:
            continue
        value = declared if isinstance(declared, bool | str) else exactly(declared)
        if holds(value, condition.comparator, condition.wanted) is False:
            return False
    return True
