"""The fields of one measure in the register (measures.py).

1. An entry holds all that there is to know of a class of findings: its name, its meaning, how
   grave it is, its whole, and the doubts that keep it from being judged.
2. Texts are for people; a program decides by fields of their own.
"""

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """The meaning of one case for a system."""

    VIOLATION = "violation"  # a promise was broken
    OPEN = "open"  # undecided
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
    """The mart that holds the values for a comparison."""

    COUNTS = "counts"
    AVAILABILITY = "availability"
    STAGES = "stages"
    OUTAGES = "outages"


class Whole(StrEnum):
    """The total that a measure is a part of."""

    MESSAGES = "messages"
    CONFIRMED = "confirmed messages"
    DENIED = "messages that were refused or returned"
    UNDECIDED = "messages of unknown outcome"
    DELAYED = "delayed messages"
    IN_TRANSACTIONS = "messages in transactions"
    COMMITTED = "committed messages"
    TO_BE_COMMITTED = "messages to be committed when the broker asks"
    ROLLED_BACK = "messages to be rolled back"
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
    """A count (or query) that must exist in a run before a measure makes sense there.

    A comparison needs it for the measure whatever its detail; a claim needs it for the detail,
    too.
    """

    measure: str
    missing: str  # the sentence for a run without
    details: tuple[str, ...] = ()  # one of these; (): any


@dataclass(frozen=True, slots=True)
class Opportunity:
    """The messages of census `could_show` that no scenario plans: one is enough. Without one no
    broker could have failed, so a claim does not apply."""

    missing: str  # the sentence for a run without
    hidden_by: tuple[str, ...]  # doubts about loss under which a run may have one off the record


@dataclass(frozen=True, slots=True)
class Doubtful:
    """Cases that may belong to a measure, too; `why` begins after their number."""

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
    meaning: str = ""  # where the title leaves a question


@dataclass(frozen=True, slots=True)
class Reached:
    """The row of the mart `stages` that gives a measure its value."""

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
    seen: str = ""  # what its cases were, if no title: `3 of 90 confirmed messages were lost`
    compared: bool = True  # over the runs of a cell; a census never is
    stopped_by: tuple[Stop, ...] = ()
    listed: bool = True  # its cases are rows of the mart `affected`
    part: bool = False  # each case is one of another measure, too: pages show it there
    details: tuple[Detail, ...] = ()  # where they are fixed
    missing: bool = False  # it counts confirmed messages that never came
    of_sending: bool = False  # a message counts once, however many consumer groups get it
    attributed: bool = False  # to the fault windows that could have caused it (mart attributions)
    of: Need | None = None
    doubtful: Doubtful | None = None
    shown_by: str = ""  # the messages that could have shown it, in words: census `could_show`
    opportunity: Opportunity | None = None  # likewise, of those that no scenario plans
    claimed: str = ""  # what claims mean by it; "" is: they may not speak of it
    always_shown: bool = False  # of every run, though it be 0
    raised_by_publishers: bool = False  # by what an open log of theirs does not show
    # Counts of messages that an open log of a publisher leaves undecided: they may be its cases.
    raised_by: tuple[str, ...] = ()
    instant: str = "first sent"  # what happened at the time of a listed case
    story: str = ""  # of one message, with {at}, {attempt} and {detail}
    end: str = ""  # what never happened, of messages that never came
    reached: Reached | None = None

    @property
    def of_times(self) -> bool:
        """Return whether a run has its worst over several times, instead of a sum."""
        return self.mart is not Mart.COUNTS

    @property
    def of_brokers(self) -> bool:
        """Return whether no fault of clients can cause it: what is gone, a broker had confirmed.
        What a connection held is another matter: a fault of clients may have ended it."""
        gone = self.missing or self.opportunity is not None
        confirmed = self.part_of is Whole.CONFIRMED
        return gone and confirmed and self.grade is Grade.VIOLATION

    def sentence(self, number: str, rest: str = "") -> str:
        """Return `428 of 2,299 confirmed messages were lost`. `number`: `428 of 2,299`, perhaps
        with `at least`; `rest`: what stands after the noun."""
        noun, was = self.part_of.value, "were"
        if number == "1":
            noun = noun.replace("messages", "message", 1).replace("deliveries", "delivery", 1)
        if number.partition(" ")[0] == "1":
            was = "was"
        return f"{number} {noun}{rest} {was} {self.seen or self.title.lower()}"

    @property
    def is_step(self) -> bool:
        """Return whether it is a stage by its own name."""
        return self.reached is not None and self.reached.stage == self.name

    @property
    def reasons(self) -> frozenset[str]:
        return frozenset(stop.reason for stop in self.stopped_by)


def stops(scope: str, *reasons: str) -> tuple[Stop, ...]:
    return tuple(Stop(scope, reason) for reason in reasons)
