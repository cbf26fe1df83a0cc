"""What is known of one measure: the form of an entry in the register (measures.py).

1. An entry says all that anybody has to know of a class of findings: what to call it, what it
   means, how grave it is, what it is a part of, what keeps it from being judged.
2. Texts are for people; what a program decides by has a field of its own.
"""

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """What one of it says about a system."""

    VIOLATION = "violation"  # a promise was broken
    OPEN = "open"  # nobody can say
    HARMLESS = "harmless"  # it is counted, and breaks no promise by itself
    SERVICE = "service"  # how well a run was served: claims name bounds of their own
    CENSUS = "census"  # only how much was looked at


class Unit(StrEnum):
    MESSAGES = "messages"
    DELIVERIES = "deliveries"
    OUTAGES = "outages"
    SHARE = "share"
    NS = "ns"


class Mart(StrEnum):
    """Where a comparison finds its values."""

    COUNTS = "counts"
    AVAILABILITY = "availability"
    STAGES = "stages"
    OUTAGES = "outages"


class Whole(StrEnum):
    """Of what a measure is a part."""

    MESSAGES = "messages"
    CONFIRMED = "confirmed messages"
    DENIED = "messages that were refused or returned"
    UNDECIDED = "messages of unknown outcome"
    DELAYED = "delayed messages"
    IN_TRANSACTIONS = "messages in transactions"
    COMMITTED = "committed messages"
    TO_BE_ASKED = "messages to be committed when the broker asks"
    DELIVERED = "delivered messages"
    DELIVERIES = "deliveries"
    OPERATIONS = "operations"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Stop:
    """A doubt that keeps a measure from being judged; of times, one about any of them."""

    scope: str
    reason: str


@dataclass(frozen=True, slots=True)
class Need:
    """What must be counted (or asked) in a run before a measure makes sense there.

    A comparison asks for the measure whatever its detail; a claim asks for the detail, too.
    """

    measure: str
    missing: str  # the sentence for a run without
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Doubtful:
    """What may belong to a measure, too; `why` begins after the number of them."""

    measure: str
    why: str
    advice: str


@dataclass(frozen=True, slots=True)
class Detail:
    """One of the fixed details of a measure; each is compared by itself, too."""

    name: str
    grade: Grade
    title: str
    may_be_ambiguous: bool = False  # one that is called `ambiguous` may be of this


@dataclass(frozen=True, slots=True)
class Reached:
    """The row of the mart `stages` that a measure is told by."""

    stage: str
    meaning: str  # what has happened by then
    one_event_proves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One class of findings, or one time."""

    name: str
    grade: Grade
    unit: Unit
    part_of: Whole
    title: str
    meaning: str
    mart: Mart = Mart.COUNTS
    short: str = ""  # its name in tables, where the title is too long for them
    compared: bool = True  # over the runs of a cell; a census never is
    stopped_by: tuple[Stop, ...] = ()
    listed: bool = True  # its cases are rows of the mart `affected`
    details: tuple[Detail, ...] = ()  # where they are fixed
    missing: bool = False  # it counts confirmed messages that never came
    charged: bool = False  # to the fault windows that could have caused it (mart charges)
    of: Need | None = None
    doubtful: Doubtful | None = None
    claimed: str = ""  # what claims mean by it; "" is: they may not speak of it
    always_told: bool = False  # of every run, though it be 0
    raised_by_publishers: bool = False  # by what an open log of theirs does not show
    story: str = ""  # of one message, with {at}, {attempt} and {detail}
    end: str = ""  # what never happened, of messages that never came
    reached: Reached | None = None

    @property
    def of_times(self) -> bool:
        """Whether a run has its worst over several times, instead of a sum."""
        return self.mart is not Mart.COUNTS

    @property
    def is_step(self) -> bool:
        """Whether it is a stage by its own name."""
        return self.reached is not None and self.reached.stage == self.name

    @property
    def reasons(self) -> frozenset[str]:
        return frozenset(stop.reason for stop in self.stopped_by)


def stops(scope: str, *reasons: str) -> tuple[Stop, ...]:
    return tuple(Stop(scope, reason) for reason in reasons)
