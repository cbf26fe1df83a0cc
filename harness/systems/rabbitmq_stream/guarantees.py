"""PURE: what streams guarantee by a layout.

1. A confirm waits until a majority of the replicas has the message. They write it to files and
   never flush these: what a host has not written back when its power fails is lost there.
2. A transient message is written as a persistent one: only durable streams can be declared.
3. Nothing is removed when it is consumed. Each consumer asks for the offset that it wants next.
"""

from harness.plan.guarantees import CLIENTS, Guarantees, NotApplicable
from harness.plan.model import Layout
from spark_analysis.schema.words import Strength

_BY_LOG = NotApplicable("a replica whose log ends before that of another one is not elected")


def stream_guarantees(layout: Layout) -> Guarantees:
    replicated = (layout.copies or 1) > 1
    strength = Strength.REPLICATED if replicated else Strength.BUFFERED
    return Guarantees(
        masters=1,
        mirrored_on=NotApplicable("no policy says where replicas of a stream are"),
        promote_on_shutdown=_BY_LOG,
        promote_on_failure=_BY_LOG,
        elects=True,
        elects_by_majority=True,
        route_poll_s=NotApplicable("its clients ask no name server"),
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=True,
        confirm_waits_for_disk=False,
        checks_within_s=NotApplicable("its brokers ask about no transaction"),
        progress_kept_by=CLIENTS,
        strength=strength,
        strength_of_transient=strength,
    )
