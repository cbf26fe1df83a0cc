"""Why it is undecided whether clients were served: one reason, and what would decide it.

1. The answer `open` has several causes (docs/verdicts.md 7.3). The rows show which one applies:
   what ended the outage, and when.
2. Each cause has one remedy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from harness.claims.times import NS
from harness.claims.values import Unknown
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import GONE_WITHIN_NS, Facts
from spark_analysis.schema.service import Outage, Service

LONGER = "let the fault last longer (`lasts`)"
LONGER_AFTER = "extend the load after the fault (`recovery`)"
MORE = "send more messages (`rate`)"
NONE_IN_TIME = "no message sent under the fault was confirmed before its undo began"
MAY_HAVE = "so the undo may have brought service back"
NOT_NORMAL = (
    "service had not been normal for 5 s when the load ended: whether it recovered is unknown"
)
ONLY_LAST = "such messages are not decided: the deadline of"
TOO_FEW = "too few of the late messages were due in time to show an outage before"
_EXACT = "the answer depends on the exact times of the fault and of the messages"
ONE_CLOCK = "run publishers on the machine that runs mqproof"
UNKNOWN_GONE = Unknown(
    "it depends on when within 5 s after its undo the fault was gone, which no record says",
    "record when each fault was seen to be gone (`gone` in the table `faults`)",
)


@dataclass(frozen=True, slots=True)
class LateConfirm:
    """The first confirm of a message that was sent under a fault, if it came only once the undo
    had begun. Times in ns from the fault's origin."""

    after_ns: int  # if none came, the time until which one was awaited
    undone_ns: int
    came: bool

    @property
    def reason(self) -> str:
        late_s = (self.after_ns - self.undone_ns) / NS
        first = f"the first confirm came {late_s:.1f} s after that" if self.came else "none came"
        return f"{NONE_IN_TIME} ({self.undone_ns / NS:.1f} s); {first}"

    @property
    def advice(self) -> str:
        """Return for how long a fault has to last to show whether the undo is needed."""
        least_s = ceil(max(2 * self.undone_ns, self.after_ns) / NS)
        why = "to see whether a confirm comes before its undo"
        return f"let the fault last at least {least_s} s, twice as long (`lasts`), {why}"


def reason(
    row: Service, outages: Iterable[Outage], late: LateConfirm | None, deadline_ns: int
) -> Unknown:
    """Return why a scope's answer is `open`. `late`: None if something was confirmed in time."""
    if row.due < words.JUDGED_MIN:
        return _few(row)
    own = [one for one in outages if row.meets(one)]
    if not own:
        return Unknown(_EXACT, ONE_CLOCK)
    either = [one for one in own if one.ended == words.EITHER]
    if either and row.promise != words.HEALED:
        return _brought_back(row, either[-1], late)
    if any(one.ended == words.UNKNOWN for one in own):
        return Unknown(NOT_NORMAL, LONGER_AFTER)
    if row.promise == words.FAULT and all(one.ended == words.SYSTEM for one in own):
        return _recovered(row, own)
    return _near_the_end(row, own[-1], deadline_ns)


def gone_unknown(row: Service, outages: Iterable[Outage], facts: Facts) -> bool:
    """Return whether an answer about service after the fault may be open because no record says
    when the fault was gone: an outage reached into the time in which that may have been, or
    another fault began then."""
    back_ns = facts.deadline_ns + facts.reconnect_ns
    unnoted = any(
        one.gone and one.ended_ns is not None and row.from_ns == one.ended_ns + back_ns
        for one in facts.windows
    )
    own = [one for one in outages if row.meets(one)]
    reached = not own or any(one.from_ns < row.from_ns + GONE_WITHIN_NS for one in own)
    return row.promise == words.HEALED and unnoted and reached


def _few(row: Service) -> Unknown:
    advice = LONGER_AFTER if row.promise == words.HEALED else LONGER
    if not row.due:
        why = (
            "nothing was due for more than 5 s after a late message: its publisher may have waited"
        )
        return Unknown(why, MORE)
    return Unknown(f"only {row.due:,} messages were due, and most of them were late", advice)


def _brought_back(row: Service, outage: Outage, late: LateConfirm | None) -> Unknown:
    """Return the reason if the undo or the system ended an outage."""
    if late is not None:
        return Unknown(f"{late.reason}, {MAY_HAVE}", late.advice)
    before_s = (row.until_ns - outage.until_ns) / NS
    side = "before" if before_s >= 0 else "after"
    when = f"messages were on time again from {abs(before_s):.1f} s {side} the undo began"
    return Unknown(f"{when}, {MAY_HAVE}", LONGER)


def _recovered(row: Service, outages: Sequence[Outage]) -> Unknown:
    """Return the reason if the system ended every outage."""
    if len(outages) > 1:
        why = (
            f"there were {words.RELAPSES_MAX} outages while the fault was active; only more than "
            "that show that service fails again and again"
        )
        return Unknown(why, LONGER)
    left_s = (row.until_ns - outages[0].until_ns) / NS
    why = (
        f"service came back {left_s:.1f} s before the undo began: too few messages were due since "
        "then to show that it lasted"
    )
    return Unknown(why, LONGER)


def _near_the_end(row: Service, outage: Outage, deadline_ns: int) -> Unknown:
    """Return the reason if an outage has too few messages that are decided."""
    healed = row.promise == words.HEALED
    end = "the judged time ended" if healed else "the undo began"
    if outage.from_ns >= row.until_ns - deadline_ns:
        why = (
            f"messages were late only from {(row.until_ns - outage.from_ns) / NS:.1f} s before "
            f"{end}; {ONLY_LAST} {deadline_ns / NS:g} s was not over"
        )
        return Unknown(why, LONGER_AFTER if healed else LONGER)
    return Unknown(f"{TOO_FEW} {end}", LONGER_AFTER if healed else MORE)


def near_undo(bound_ns: int) -> Unknown:
    """Return why a first confirm decides nothing: it came as near to the undo as the publishers'
    clocks may be off."""
    first = "the first confirm of a message sent under the fault came near the undo"
    why = f"{first} (the publishers' clocks may be off by {bound_ns / NS:.3f} s)"
    return Unknown(why, ONE_CLOCK)
