"""The entries of the register that only delayed messages can have. Read them by measures.py, which
has them in the order of gravity.
"""

from spark_analysis.schema.measure import Doubtful, Grade, Measure, Need, Unit, Whole, stops

_LOGS = stops("loss", "consumer_log", "publisher_log")
_DELAYED = Need("delayed", "no message was delayed")

EARLY = Measure(
    name="early",
    instant="delivered",
    attributed=True,
    grade=Grade.VIOLATION,
    unit=Unit.DELIVERIES,
    part_of=Whole.DELAYED,
    title="Delivered too early",
    meaning="deliveries before their time, by more than clocks can explain",
    stopped_by=_LOGS,
    of=_DELAYED,
    shown_by="delayed messages that came",
    doubtful=Doubtful(
        "early_unknown",
        "came before their time by no more than the clocks are off",
        "run it with clients and brokers on one machine, or with synchronised clocks",
    ),
    claimed="deliveries before a delayed message was due",
    raised_by_publishers=True,
    story="was delivered at {at}, attempt {attempt}, before it was due",
)

OVERDUE = Measure(
    name="overdue",
    instant="first delivered",
    attributed=True,
    grade=Grade.VIOLATION,
    unit=Unit.MESSAGES,
    part_of=Whole.DELAYED,
    title="Delivered too late",
    meaning="delayed, and delivered later than due by more than brokers' timers can explain",
    stopped_by=_LOGS,
    of=_DELAYED,
    shown_by="delayed messages that were confirmed and came",
    claimed="delayed messages that came later than due, by more than timers can explain",
    raised_by=("unrecorded", "revived"),
    story="was delayed, and delivered at {at}, later than it was due",
)

EARLY_UNKNOWN = Measure(
    name="early_unknown",
    instant="delivered",
    attributed=True,
    grade=Grade.OPEN,
    unit=Unit.DELIVERIES,
    part_of=Whole.DELAYED,
    title="Early, or the clocks are off",
    meaning="deliveries before their time, by no more than clocks can explain",
    stopped_by=_LOGS,
    of=_DELAYED,
)
