"""What the formats of Jepsen and OpenChaos have no field for: facts and counts, with the reason.

1. The format's adapter declares it; it is never concluded from one history. What a history could
   have recorded and did not stays unknown.
2. No record of such a format can show the violation, so a claim about it is NOT APPLICABLE.
"""

from collections.abc import Mapping

from harness.plan.facts import OPERATED
from spark_analysis.schema.words import LEVELS

UNCHECKED = "the format has no checksums: a damaged value counts as never sent"
_NO_ACKNOWLEDGEMENTS = "the format has no acknowledgements of consumers and no redelivery flags"
_NO_ORDER = "the format has no redelivery flags: what came late may be a redelivery"
_NO_INTENT = "the format has no times at which messages were due to be sent"
_NO_ATTENDANCE = "the format does not say when consumers were there to receive"
_NO_DELAYS = "the format has no delayed messages"
_NO_LEVELS = "the format has no levels of confirms"
_NO_OPERATIONS = "the format has no operations of administrators"
_OF_CONSUMERS = (
    "duplicated.redelivery_after_ack",
    "duplicated.offset_rollback",
    "duplicated.redelivered_without_cause",
    "not_redelivered",
)

UNRECORDED: Mapping[str, str] = {
    "corrupt": UNCHECKED,
    **dict.fromkeys(_OF_CONSUMERS, _NO_ACKNOWLEDGEMENTS),
    **dict.fromkeys(("reordered", "reorder_unknown"), _NO_ORDER),
    "unavailable_in_steady_state_s": _NO_INTENT,
    "consumer_wait_in_steady_state_s": _NO_ATTENDANCE,
    **dict.fromkeys(("overdue", "early"), _NO_DELAYS),
    **{f"{name}.{each.label}": _NO_LEVELS for name in ("lost", "stranded") for each in LEVELS},
    **dict.fromkeys(OPERATED, _NO_OPERATIONS),
}
