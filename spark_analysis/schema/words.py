"""The words that records are made of: numbered once, never renumbered (docs/verdicts.md 1).

1. A number means the same in every format version; a word that dies keeps its number.
2. A lower rank of a confirm level is stronger, so the strongest of several confirmations
   is their minimum. `Strength` has mqproof's own levels; a system may declare others (`Level`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum


class Outcome(IntEnum):
    """The outcome of one attempt by a settlement. An attempt without settlement is UNKNOWN."""

    CONFIRMED = 1
    REFUSED = 2
    RETURNED = 3
    UNCONFIRMED = 4
    UNKNOWN = 5


class Strength(IntEnum):
    """The confirm level of a confirmation; NONE for everything that is not one."""

    NONE = 0
    REPLICATED = 1
    STORED = 2
    BUFFERED = 3
    FLUSH_DISK_TIMEOUT = 4
    FLUSH_SLAVE_TIMEOUT = 5
    SLAVE_NOT_AVAILABLE = 6
    UNROUTED_POSSIBLE = 7

    @property
    def rank(self) -> int:
        return int(self)

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, order=True)
class Level:
    """A confirm level of a system: its rank in the records, its label in reports."""

    rank: int
    label: str
    meaning: str = field(default="", compare=False)  # of a confirm, for people

    @property
    def explained(self) -> str:
        """Return the meaning. A level without one, as in older records, has that of mqproof's
        own level of its label."""
        return self.meaning or _MEANINGS.get(self.label, "")


def window_numbers(listed: str) -> tuple[int, ...]:
    """Return the fault windows of a mart's column `windows`, such as `1,3`, in its order."""
    return tuple(int(number) for number in listed.split(",") if number)


def level_text(label: str) -> str:
    """Return a confirm level as people read it after `confirmed`. What is `replicated` may be on
    few replicas: on a majority, or on the master alone if no other replica was available."""
    return "by all required replicas" if label == Strength.REPLICATED.label else label


DISK_OPEN = "the level does not say whether on disk: settings of the system decide that"

# docs/verdicts.md 1 says the same.
_MEANINGS = {
    Strength.REPLICATED.label: "every replica that was available at that time, or as many as the "
    "layout requires, had the message; if no other replica was available, only the master; "
    f"{DISK_OPEN}",
    Strength.STORED.label: "one broker had it on its disk",
    Strength.BUFFERED.label: "one broker had it in memory",
    Strength.FLUSH_DISK_TIMEOUT.label: "the disk had not answered in time",
    Strength.FLUSH_SLAVE_TIMEOUT.label: "the slave had not answered in time; the master has "
    "the message, and the client reports the send as done",
    Strength.SLAVE_NOT_AVAILABLE.label: "there was no slave to copy to",
    Strength.UNROUTED_POSSIBLE.label: "perhaps it was routed to no queue",
}
LEVELS = tuple(
    Level(each.rank, each.label, _MEANINGS[each.label])
    for each in Strength
    if each is not Strength.NONE
)


def replicated_means(meaning: str) -> tuple[Level, ...]:
    """Return mqproof's own levels for a system whose `replicated` has this meaning."""
    return tuple(
        replace(each, meaning=meaning) if each.label == Strength.REPLICATED.label else each
        for each in LEVELS
    )


RANK_MAX = 254  # a byte of the records; 0 is no confirmation, 255 no level at all
_LABEL = re.compile(r"[a-z][a-z0-9_]{0,30}")


def least_promised(levels: Sequence[Level]) -> Level:
    """Return the level of a confirm that no system describes: `buffered`, or the weakest."""
    buffered = (level for level in levels if level.label == Strength.BUFFERED.label)
    return next(buffered, max(levels))


def level_mistakes(levels: Iterable[Level]) -> Iterator[str]:
    """Yield what is wrong with the levels that a system declares."""
    ranks, labels = set[int](), set[str]()
    for each in levels:
        if not isinstance(each, Level) or type(each.rank) is not int:
            yield f"{each!r} is no Level"
            continue
        if not 1 <= each.rank <= RANK_MAX:
            yield f"level {each.label!r}: its rank is from 1 to {RANK_MAX}, not {each.rank}"
        if not isinstance(each.label, str) or not _LABEL.fullmatch(each.label):
            yield f"{each.label!r} is no label of a level: small letters, digits, underscores"
        if not isinstance(each.meaning, str):
            yield f"level {each.label!r}: its meaning is a text, not {each.meaning!r}"
        if each.rank in ranks or each.label in labels:
            yield f"level {each.label!r}: its rank {each.rank} or its label stands twice"
        ranks.add(each.rank)
        labels.add(each.label)
    if not ranks:
        yield "it declares no confirm level"


class Via(IntEnum):
    """mqproof's own ways by which a message reached us. LOAD and DRAIN are deliveries, AUDIT is a
    find. Systems declare further ones (ways.py)."""

    LOAD = 1
    DRAIN = 2
    AUDIT = 3


class Redelivered(IntEnum):
    """The broker's own flag on a delivery, where it has one."""

    NO = 0
    YES = 1
    NOT_REPORTED = 2


class RecoveredBy(StrEnum):
    """The cause of sustained success."""

    NOTHING = ""  # there was none under the fault, or the fault had no end
    SYSTEM = "system"
    UNDO = "undo"  # of the fault
    EITHER = "either"


# The fault's end may have ended the outage, too: without it that might have lasted longer.
ENDED_BY_FAULT = (RecoveredBy.UNDO, RecoveredBy.EITHER)


class UnverifiedCause(StrEnum):
    """The cause of an unverified fault, where something can be done about it."""

    OTHER = ""
    NEVER_BEGAN = "never_began"  # its target meant nothing, or what another fault had
    NO_LEADER = "no_leader"  # it never began: no host said that it leads the queue
    TOO_SHORT = "too_short"  # for its check
    ENDED_EARLY = "ended_early"  # something else ended it before its undo


class ProblemCause(StrEnum):
    """The cause of a problem that leaves the whole run unknown."""

    CLOCK = ""  # clocks ran apart, or the machine was suspended; of older records any cause
    INTERRUPTED = "interrupted"  # by a signal
    FAILED = "failed"  # mqproof ended the run, and the text says why
    DIED = "harness_died"  # mqproof itself ended before the run did
    OPERATION = "operation_failed"


class Fate(IntEnum):
    """The fate that a producer gives a transaction, and when. Publishing.java reads these
    numbers."""

    NONE = 0  # no transaction
    COMMIT = 1
    ROLLBACK = 2
    COMMIT_WHEN_CHECKED = 3  # it says nothing until the broker's check asks
    ROLLBACK_WHEN_CHECKED = 4


ROLLBACKS = (Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED)
NEVER_SENT = -1  # attempts.sent_ns of a publish whose deadline passed before it could go out
NO_INTENT = -1  # attempts.intended_ns at rate `max`, and of every retry
NO_DUE = -1  # terms.due_ns of a message that is not delayed
NO_OFFSET = -1  # deliveries.offset of a queue broker
