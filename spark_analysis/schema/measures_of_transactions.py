"""The entries of the register that only transactions can have. Read them by measures.py, which has
them in the order of gravity.
"""

from spark_analysis.schema.measure import Doubtful, Grade, Measure, Need, Unit, Whole, stops

_LOGS = stops("loss", "consumer_log", "publisher_log")
_ENDS = (*_LOGS, *stops("loss", "drain"))
_TRANSACTIONS = Need("transactions", "nothing was sent in a transaction")
_ROLLBACKS = Need(
    "transactions", "no transaction was to be rolled back", ("rollback", "rollback_when_checked")
)

ROLLED_BACK_BUT_DELIVERED = Measure(
    name="rolled_back_but_delivered",
    instant="first delivered or found",
    attributed=True,
    grade=Grade.VIOLATION,
    unit=Unit.MESSAGES,
    part_of=Whole.ROLLED_BACK,
    title="Rolled back, but delivered",
    seen="delivered",
    meaning="its sender rolled the transaction back, and a consumer saw it",
    stopped_by=_LOGS,
    of=_ROLLBACKS,
    shown_by="messages that were rolled back",
    doubtful=Doubtful(
        "rollback_unknown",
        "were to be rolled back, but the broker may not have got the rollback",
        "see how their producer ended (manifest, workers), then run it again",
    ),
    claimed="in a transaction rolled back, yet delivered",
    raised_by=("unrecorded",),
    story="was in a transaction that was rolled back, and yet delivered at {at}",
)

TORN_TRANSACTION = Measure(
    name="torn_transaction",
    instant="found by the audit",
    attributed=True,
    grade=Grade.VIOLATION,
    unit=Unit.MESSAGES,
    part_of=Whole.COMMITTED,
    title="Torn transactions",
    seen="left as a half message in the broker",
    meaning="committed, never delivered; the broker holds a half without the commit",
    stopped_by=_ENDS,
    of=Need("transactions", "no transaction was to be committed", ("commit",)),
    shown_by="committed messages that were confirmed",
    doubtful=Doubtful(
        "unreachable",
        "are missing, and a place that could not be read may hold their halves or their commits",
        "see why that place could not be read, then run it again",
    ),
    claimed="committed, but the broker holds its half alone",
    raised_by_publishers=True,
    story="was committed ({detail}) and never delivered; the audit found its half, without "
    "the commit, at {at}",
    end="never delivered: the broker holds the half, and no commit of it",
)

UNCHECKED = Measure(
    name="unchecked",
    grade=Grade.VIOLATION,
    unit=Unit.MESSAGES,
    part_of=Whole.TO_BE_COMMITTED,
    title="Transactions never checked",
    seen="not checked in time",
    meaning="left open by a running producer, and not committed within the time that the "
    "broker may take to check",
    stopped_by=_ENDS,
    of=Need(
        "transactions", "no transaction was left open for the broker", ("commit_when_checked",)
    ),
    shown_by="confirmed messages that the broker had to check",
    doubtful=Doubtful(
        "unchecked_unknown",
        "were never committed, and a fault, a log, a drain or the end of their producer "
        "leaves open why",
        "let producers and brokers be there until all timers are over (settle)",
    ),
    claimed="to be committed when the broker checks, which it did not do in time",
    raised_by_publishers=True,
    story="was left open when it was sent at {at}, and never committed though its producer "
    "was there to be checked",
    end="never delivered: nothing shows that the broker checked its transaction",
)

ROLLBACK_UNKNOWN = Measure(
    name="rollback_unknown",
    instant="first delivered or found",
    attributed=True,
    grade=Grade.OPEN,
    unit=Unit.MESSAGES,
    part_of=Whole.IN_TRANSACTIONS,
    title="Delivered, perhaps rolled back",
    meaning="to be rolled back and delivered; its sender died or heard nothing, so "
    "the broker may not have got the rollback",
    stopped_by=_LOGS,
    of=_TRANSACTIONS,
)

UNCHECKED_UNKNOWN = Measure(
    name="unchecked_unknown",
    grade=Grade.OPEN,
    unit=Unit.MESSAGES,
    part_of=Whole.TO_BE_COMMITTED,
    title="Perhaps never checked",
    meaning="left open and never committed; a fault, a log, a drain or the end of its "
    "producer leaves open why",
    of=_TRANSACTIONS,
)
