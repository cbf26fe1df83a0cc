"""The entries of the register that are no classes of findings: how well a run was served, and how
much was looked at. Read them by measures.py.
"""

from spark_analysis.schema.measure import (
    Grade,
    Mart,
    Measure,
    Need,
    Reached,
    Stop,
    Unit,
    Whole,
    stops,
)

ROUTES = "routes"  # no count: name servers were asked for a route that a fault could change
CONSUMERS_ABSENT, PUBLISHERS_ABSENT = "consumers_absent", "publishers_absent"
_SENDING = stops("availability", "stalled", "stalls", "publisher_log", PUBLISHERS_ABSENT)
# A consumer's stall changes no time that a publisher measured, as its absence does not.
CONSUMER_STALLED, CONSUMER_STALLS = "consumer_stalled", "consumer_stalls"
LONG_STALLS = "stalled", CONSUMER_STALLED
STALLS = (*LONG_STALLS, "stalls", CONSUMER_STALLS)
OF_CONSUMERS = CONSUMERS_ABSENT, CONSUMER_STALLED, CONSUMER_STALLS
_RECEIVING = (*_SENDING, *stops("availability", *OF_CONSUMERS))
_ROUTED = Need(ROUTES, "no name server was queried for a route that a fault could change")


def _census(
    name: str, whole: Whole, title: str, meaning: str, claimed: str = "", *, by_group: bool = False
) -> Measure:
    """Return a measure of cases that are correct or were not judged: counted, without affected
    messages. `by_group`: a message counts for each consumer group."""
    return Measure(
        name=name,
        grade=Grade.CENSUS,
        unit=Unit.MESSAGES,
        part_of=whole,
        title=title,
        meaning=meaning,
        compared=False,
        listed=False,
        of_sending=whole is Whole.MESSAGES and not by_group,
        claimed=claimed,
    )


def _step(
    name: str,
    title: str,
    meaning: str,
    stopped_by: tuple[Stop, ...] = _SENDING,
    *,
    of: Need | None = None,
    one_event_proves: bool = False,
) -> Measure:
    """A time from a fault to a stage, called as the stage is."""
    return Measure(
        name=name,
        grade=Grade.SERVICE,
        unit=Unit.NS,
        part_of=Whole.TIME,
        title=title,
        meaning=meaning,
        mart=Mart.STAGES,
        stopped_by=stopped_by,
        listed=False,
        of=of,
        reached=Reached(name, meaning, one_event_proves),
    )


def _outage(name: str, unit: Unit, title: str, meaning: str) -> Measure:
    """Return a measure of the outages of a run's scope, whatever window they lie in."""
    return Measure(
        name=name,
        grade=Grade.SERVICE,
        unit=unit,
        part_of=Whole.TIME,
        title=title,
        meaning=meaning,
        mart=Mart.OUTAGES,
        stopped_by=_SENDING,
        listed=False,
    )


OF_SERVICE = (
    _outage("total_downtime", Unit.NS, "Downtime", "sum of all outages of the run"),
    _outage("longest_downtime", Unit.NS, "Longest outage", "the longest outage of the run"),
    _outage("outages", Unit.OUTAGES, "Outages", "number of outages of the run"),
    # Counted and listed by message, too; repeats are compared by its share of what was due.
    Measure(
        name="missed",
        of_sending=True,
        instant="due",
        grade=Grade.SERVICE,
        unit=Unit.SHARE,
        part_of=Whole.OPERATIONS,
        title="Late messages",
        meaning="messages that were not confirmed by their due time plus the deadline, also those "
        "that were never sent. A fault counts the messages that were due from its beginning until "
        "the next fault began, or until the load ended",
        mart=Mart.AVAILABILITY,
        stopped_by=_SENDING,
    ),
    Measure(
        name="silence",
        grade=Grade.SERVICE,
        unit=Unit.NS,
        part_of=Whole.TIME,
        title="Longest time without a confirm",
        meaning="the longest time without any confirm of one queue, of several the longest. It "
        "counts from the first message due in it, not from the fault, and any confirm of that "
        "queue ends it",
        mart=Mart.AVAILABILITY,
        stopped_by=_SENDING,
        listed=False,
    ),
    # Name servers are asked by probers: what became of other workers says nothing against them.
    _step(
        "route_changed",
        "Route changed (first name server)",
        "the first name server showed another route (then at the latest)",
        (),
        of=_ROUTED,
    ),
    _step(
        "route_changed_everywhere",
        "Route changed (every name server)",
        "the last name server showed another route. A name server that gave no answer from the "
        "fault on is left out: it cannot show when it noticed the fault",
        (),
        of=_ROUTED,
    ),
    _step(
        "first_success",
        "First confirm of a new message",
        "the first confirm of a message that was sent after the fault was active (its action had "
        "returned); counted from the fault. The longest time without a confirm counts from the "
        "first message due in it and ends with any confirm, so the two may differ",
        one_event_proves=True,
    ),
    Measure(
        name="degraded",
        grade=Grade.SERVICE,
        unit=Unit.NS,
        part_of=Whole.TIME,
        title="On time again (due time)",
        meaning="of the messages that were due in the 5 s after this time (at least 200), at "
        "least 99 % were on time; later ones may be late (see downtime). This is a due time: the "
        "confirm itself may come later by up to the deadline, so first confirm may be the larger "
        "number",
        mart=Mart.STAGES,
        stopped_by=_SENDING,
        listed=False,
        reached=Reached(
            "sustained_success",
            "of the messages that were due in the 5 s after this time (at least 200), at least "
            "99 % were on time; later ones may be late. Counted from the fault; the downtime "
            "counts from the due time of the first late message",
        ),
    ),
    _step(
        "consumers_resumed",
        "First delivery of a new message",
        "the first delivery to a consumer of a message that was sent after the fault was active "
        "(its action had returned)",
        _RECEIVING,
        one_event_proves=True,
    ),
    _step(
        "backlog_drained",
        "Backlog gone for good",
        "after this time, no confirmed message waited in a queue for longer than the deadline; "
        "before it, the backlog may have gone and come again",
        _RECEIVING,
    ),
)

OF_CENSUS = (
    _census("state", Whole.MESSAGES, "Messages", "every message, by the answer to its sender"),
    _census("confirmed", Whole.MESSAGES, "Confirmed", "by the strongest confirm level of each"),
    _census("in_order", Whole.DELIVERED, "In order", "overtaken by no later message of its key"),
    _census(
        "not_judged",
        Whole.DELIVERED,
        "Not judged for order",
        "its order is not certain, by reason",
    ),
    _census(
        "operations",
        Whole.MESSAGES,
        "Publishes",
        "messages that were intended for a certain time",
    ),
    _census(
        "excused",
        Whole.MESSAGES,
        "Excused",
        "a fault had stopped its publisher at the intended time",
    ),
    _census(
        "delayed",
        Whole.MESSAGES,
        "Delayed",
        "sent with a delay",
        claimed="messages that were sent with a delay",
    ),
    _census(
        "transactions",
        Whole.MESSAGES,
        "In transactions",
        "sent in a transaction, by the intended outcome",
        claimed="messages that were sent in a transaction",
    ),
    _census(
        "could_show",
        Whole.MESSAGES,
        "Could have shown",
        "messages that could have shown a class, by the class",
        by_group=True,
    ),
    _census(
        "denied",
        Whole.MESSAGES,
        "Refused or returned",
        "attempts that were refused or returned, without any other answer",
    ),
)
