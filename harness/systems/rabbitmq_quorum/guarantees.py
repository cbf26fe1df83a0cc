"""PURE: what quorum queues guarantee by a layout.

1. A confirm waits for a majority of the members, and for the disk of each of these. The other
   members may lack a confirmed message.
2. Transient messages are written as others are: only durable queues can be declared.
"""

from harness.plan.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.model import Layout
from spark_analysis.schema.words import Strength

_BY_VOTE = NotApplicable("members vote, and none that lacks what was confirmed is elected")


def quorum_guarantees(layout: Layout) -> Guarantees:
    replicated = (layout.copies or 1) > 1
    strength = Strength.REPLICATED if replicated else Strength.STORED
    return Guarantees(
        masters=1,
        mirrored_on=NotApplicable("no policy says where members of a quorum queue are"),
        promote_on_shutdown=_BY_VOTE,
        promote_on_failure=_BY_VOTE,
        elects=True,
        elects_by_majority=True,
        route_poll_s=NotApplicable("its clients ask no name server"),
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=True,
        confirm_waits_for_disk=True,
        checks_within_s=NotApplicable("its brokers ask about no transaction"),
        progress_kept_by=BROKERS,
        strength=strength,
        strength_of_transient=strength,
    )
