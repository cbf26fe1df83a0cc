"""The register of measures: every class of findings and every time, the gravest first.

1. This is the only list of them. All code that counts, ranks, draws, compares or describes
   measures reads it.
2. Its order is the order of gravity, one for all: from what must never happen to what only says
   how much was judged. Times stand in the order in which a run goes through them.
3. messages.py defines what a measure counts, and comparison.py how its repeats are compared.
4. To add a class: an entry here, the oracle, the kernel, its claims, its tests.
"""

from spark_analysis.schema.measure import (
    Detail,
    Doubtful,
    Grade,
    Measure,
    Need,
    Opportunity,
    Reached,
    Unit,
    Whole,
    stops,
)
from spark_analysis.schema.measures_of_delays import EARLY, EARLY_UNKNOWN, OVERDUE
from spark_analysis.schema.measures_of_runs import OF_CENSUS, OF_SERVICE
from spark_analysis.schema.measures_of_transactions import (
    ROLLBACK_UNKNOWN,
    ROLLED_BACK_BUT_DELIVERED,
    TORN_TRANSACTION,
    UNCHECKED,
    UNCHECKED_UNKNOWN,
)
from spark_analysis.schema.provenances import DUPLICATED

PLACES = ("drain", "unreadable")  # doubts about where a missing message may be
_LOGS = stops("loss", "consumer_log", "publisher_log")
_ENDS = (*_LOGS, *stops("loss", "drain"))
_LOSS = (*_ENDS, *stops("loss", "unreadable", "not_due", "pending"))
# What may hide a case if a publisher's log is open: deliveries of messages that are not on record,
# and delivered messages whose answer is not.
_UNRECORDED = ("unrecorded",)
_UNSETTLED = ("unrecorded", "revived")
_DENIED = Need(
    "denied",
    "no message is known to be refused or returned (a nack leaves open whether the broker has it)",
)
_OF_MESSAGES = (
    Measure(
        name="lost",
        attributed=True,
        grade=Grade.VIOLATION,
        unit=Unit.MESSAGES,
        part_of=Whole.CONFIRMED,
        title="Lost",
        meaning="confirmed, and in no place: neither consumers nor the drain (which empties the "
        "queues) received it, and the audit (which then reads all other places) did not find it",
        stopped_by=_LOSS,
        missing=True,
        claimed="confirmed, never delivered, drained, not found by the audit",
        story="was first sent at {at} and confirmed ({detail}), never delivered; its queue was "
        "emptied (drained), and it was in no other place that was then read (the audit)",
        end="never delivered; it was not in its queue, which was emptied (drained), nor in any "
        "other place that was then read (the audit)",
    ),
    Measure(
        name="stranded",
        instant="found by the audit",
        attributed=True,
        grade=Grade.VIOLATION,
        unit=Unit.MESSAGES,
        part_of=Whole.CONFIRMED,
        title="Stranded",
        meaning="confirmed, never delivered; the audit, which reads all places after the drain, "
        "found it where no client looks",
        stopped_by=_LOSS,
        missing=True,
        claimed="confirmed, undelivered, but found by the audit",
        story="was confirmed ({detail}) and never delivered; the audit found it at {at}",
    ),
    Measure(
        name="attempt_lost",
        instant="sent",
        attributed=True,
        grade=Grade.VIOLATION,
        unit=Unit.MESSAGES,
        part_of=Whole.CONFIRMED,
        title="Lost in a confirmed attempt, arrived in another",
        seen="lost in a confirmed attempt, while another attempt arrived",
        meaning="an attempt was confirmed and is lost; another attempt of the message arrived",
        stopped_by=_LOSS,
        doubtful=Doubtful(
            "attempt_open",
            "were confirmed and did not arrive; a log, a drain or an unread place leaves open why",
            "see what was not read or not closed, then run it again",
        ),
        opportunity=Opportunity("no confirmed message was sent again", ("publisher_log",)),
        claimed="attempts that were confirmed and lost; another attempt of the message arrived",
        raised_by_publishers=True,
        story="was sent at {at} in attempt {attempt}, which was confirmed ({detail}) and "
        "is lost; another attempt of it arrived",
    ),
    Measure(
        name="not_redelivered",
        instant="last delivered",
        attributed=True,
        grade=Grade.VIOLATION,
        unit=Unit.MESSAGES,
        part_of=Whole.DELIVERIES,
        title="Not redelivered",
        seen="neither acknowledged nor redelivered",
        meaning="delivered, not acknowledged, its connection ended, and not redelivered",
        stopped_by=_LOSS,
        doubtful=Doubtful(
            "not_redelivered_unknown",
            "were not redelivered; a log, a drain, an unread place, a missing confirm "
            "or a killed consumer leaves open why",
            "see what was not read, closed or confirmed, then run it again",
        ),
        opportunity=Opportunity(
            "no connection held an unacknowledged message when it ended",
            ("consumer_log", "publisher_log"),
        ),
        claimed="delivered, not acknowledged, their connection ended, and not redelivered",
        raised_by=_UNRECORDED,
        story="was delivered at {at}, attempt {attempt}, and never acknowledged; its connection "
        "ended, and it was not redelivered",
    ),
    Measure(
        name="unreachable",
        attributed=True,
        grade=Grade.OPEN,
        unit=Unit.MESSAGES,
        part_of=Whole.CONFIRMED,
        title="Not found, and a place could not be read",
        meaning="confirmed and missing; a place that may hold it could not be read",
        # Its own reason, places that could not be read, is what it counts, so that stops nothing.
        stopped_by=_ENDS,
        missing=True,
        end="never delivered; a place that could not be read may hold it",
    ),
    Measure(
        name="loss_unknown",
        attributed=True,
        grade=Grade.OPEN,
        unit=Unit.MESSAGES,
        part_of=Whole.CONFIRMED,
        title="Not decided whether lost",
        meaning="confirmed and missing; a queue was not drained, a log is incomplete, or "
        "messages may still have had to wait",
        missing=True,
        end="never delivered as far as is known: the records or the drain are incomplete",
    ),
    ROLLED_BACK_BUT_DELIVERED,
    Measure(
        name="refused_but_delivered",
        instant="delivered",
        grade=Grade.VIOLATION,
        unit=Unit.MESSAGES,
        part_of=Whole.DENIED,
        title="Refused, but delivered",
        seen="delivered",
        meaning="the broker refused or returned it, and it was delivered all the same",
        stopped_by=_LOGS,
        of=_DENIED,
        claimed="refused or returned, yet delivered",
        raised_by=_UNSETTLED,
        story="was {detail}, and yet delivered at {at}",
    ),
    TORN_TRANSACTION,
    UNCHECKED,
    Measure(
        name="misrouted",
        instant="delivered",
        grade=Grade.VIOLATION,
        unit=Unit.DELIVERIES,
        part_of=Whole.DELIVERIES,
        title="In a wrong queue",
        meaning="delivered in a queue that it was not sent to",
        stopped_by=_LOGS,
        claimed="deliveries in another queue than the message was sent to",
        raised_by=_UNRECORDED,
        story="was delivered at {at}, attempt {attempt}, in a queue that it was not sent to",
    ),
    Measure(
        name="unexpected",
        instant="received",
        grade=Grade.VIOLATION,
        unit=Unit.DELIVERIES,
        part_of=Whole.DELIVERIES,
        title="Delivered, but never sent",
        seen="of messages that were never sent",
        meaning="deliveries that name nothing that was sent",
        stopped_by=_LOGS,
        claimed="delivered, but never sent",
        raised_by_publishers=True,
        story="was delivered at {at}, but names nothing that was sent ({detail})",
    ),
    Measure(
        name="corrupt",
        instant="received",
        grade=Grade.VIOLATION,
        unit=Unit.DELIVERIES,
        part_of=Whole.DELIVERIES,
        title="Corrupt",
        meaning="deliveries whose checksum fails",
        stopped_by=_LOGS,
        claimed="deliveries whose checksum fails",
        story="was delivered at {at} with a broken {detail}",
    ),
    EARLY,
    OVERDUE,
    Measure(
        name="reordered",
        instant="first delivered",
        attributed=True,
        grade=Grade.VIOLATION,
        unit=Unit.MESSAGES,
        part_of=Whole.DELIVERED,
        title="Out of order",
        seen="out of order at their first delivery",
        meaning="first delivered after a later message of the same sender and key",
        stopped_by=_LOGS,
        doubtful=Doubtful(
            "reorder_unknown",
            "came after later ones, but an earlier delivery of either is possible",
            "see the trace: they may have been in flight on a connection that no client read",
        ),
        claimed="overtaken by a later message, where order was promised",
        always_shown=True,
        raised_by_publishers=True,
        story="was first delivered at {at}, after a later message of its key",
    ),
    DUPLICATED,
    Measure(
        name="attempt_open",
        instant="sent",
        attributed=True,
        grade=Grade.OPEN,
        unit=Unit.MESSAGES,
        part_of=Whole.CONFIRMED,
        title="Not decided whether lost in a confirmed attempt",
        meaning="an attempt was confirmed and did not arrive; a log, a drain or an unread place "
        "leaves open why",
        stopped_by=(),
    ),
    Measure(
        name="not_redelivered_unknown",
        instant="last delivered",
        attributed=True,
        grade=Grade.OPEN,
        unit=Unit.MESSAGES,
        part_of=Whole.DELIVERIES,
        title="Possibly not redelivered (not decided)",
        meaning="unacknowledged and not redelivered; a log, a drain, an unread place, a missing "
        "confirm, a killed consumer or an acknowledgement at its end leaves open why",
        stopped_by=(),
    ),
    Measure(
        name="reorder_unknown",
        instant="first delivered",
        attributed=True,
        grade=Grade.OPEN,
        unit=Unit.MESSAGES,
        part_of=Whole.DELIVERED,
        title="Possibly out of order (not decided)",
        meaning="after a later message, but one of the two had been delivered before",
        stopped_by=_LOGS,
    ),
    Measure(
        name="acknowledged_late",
        instant="delivered again",
        attributed=True,
        grade=Grade.HARMLESS,
        unit=Unit.DELIVERIES,
        part_of=Whole.DELIVERIES,
        title="Duplicates, cause not decided (perhaps acknowledged too late)",
        meaning="duplicate deliveries whose cause is not decided: the client acknowledged around "
        "the beginning of a fault, or less than 1 s before its connection's end, and no record "
        "shows whether the broker got the acknowledgement",
        stopped_by=_LOGS,
        part=True,
        story="was delivered again at {at}, attempt {attempt}, acknowledged just before",
    ),
    Measure(
        name="unrecorded",
        instant="received",
        grade=Grade.OPEN,
        unit=Unit.DELIVERIES,
        part_of=Whole.DELIVERIES,
        title="Delivered, sender's log incomplete",
        meaning="a publisher's log is not closed, so they may have been sent",
        compared=False,  # it counts only where a log is open, and then nothing is judged
    ),
    UNCHECKED_UNKNOWN,
    ROLLBACK_UNKNOWN,
    EARLY_UNKNOWN,
    Measure(
        name="lost_indeterminate",
        attributed=True,
        grade=Grade.HARMLESS,
        unit=Unit.MESSAGES,
        part_of=Whole.UNDECIDED,
        title="Sent, never confirmed, never delivered",
        seen="never delivered",
        meaning="its outcome was unknown to the sender: no promise was broken",
        stopped_by=_ENDS,
        claimed="outcome unknown, never delivered",
        always_shown=True,
        story="had an unknown outcome, was first sent at {at} and never delivered",
        end="never delivered, and never confirmed",
    ),
    Measure(
        name="revived",
        instant="first delivered",
        grade=Grade.HARMLESS,
        unit=Unit.MESSAGES,
        part_of=Whole.UNDECIDED,
        title="Never confirmed, but delivered",
        seen="delivered",
        meaning="its outcome was unknown to the sender, and it arrived",
        stopped_by=_ENDS,
        claimed="outcome unknown, delivered",
        always_shown=True,
        story="had an unknown outcome and was delivered at {at}",
    ),
)

REGISTER: tuple[Measure, ...] = (*_OF_MESSAGES, *OF_SERVICE, *OF_CENSUS)
BY_NAME: dict[str, Measure] = {measure.name: measure for measure in REGISTER}
PARTS = frozenset(each.name for each in REGISTER if each.part)
_GRAVITY = {measure.name: place for place, measure in enumerate(REGISTER)}

# Confirmed messages that never came: those proved lost to clients, and the undecided ones.
MISSING = tuple(measure.name for measure in REGISTER if measure.missing)
GONE = tuple(name for name in MISSING if BY_NAME[name].grade is Grade.VIOLATION)
OPEN = tuple(name for name in MISSING if BY_NAME[name].grade is Grade.OPEN)
# What may belong to another measure, too.
DOUBTFUL = frozenset(one.doubtful.measure for one in REGISTER if one.doubtful is not None)
# Stages, in the order in which a run goes through them.
_REACHED = [(one.name, one.reached) for one in REGISTER if one.reached is not None]
STAGES: dict[str, Reached] = {reached.stage: reached for _, reached in _REACHED}
STAGE_OF = {name: reached.stage for name, reached in _REACHED}  # by measure
STAGE_TITLES = {stage: BY_NAME[measure].title.lower() for measure, stage in STAGE_OF.items()}


def gravity(name: str) -> int:
    """Its place in the order of gravity, 0 is the gravest; the last of all where it is unknown."""
    return _GRAVITY.get(name, len(REGISTER))


def detail(name: str, of: str) -> Detail | None:
    """The detail of that name; None where it is not fixed."""
    return next((each for each in BY_NAME[name].details if each.name == of), None)


def grade(name: str, of: str) -> Grade:
    """Return the grade of a detail; the measure's own where the detail is not fixed."""
    found = detail(name, of)
    return found.grade if found is not None else BY_NAME[name].grade


def details(name: str) -> tuple[str, ...]:
    """The names of the details of a measure that are fixed."""
    return tuple(detail.name for detail in BY_NAME[name].details)
