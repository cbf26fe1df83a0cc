"""Tales of lines and logs: what comes in another order than it was sent in, or once more.

1. A line is one producer, key, queue and consumer; a log gives offsets, and takes a group's
   acknowledgements for progress where nothing before them is missing.
"""

from spark_analysis.schema.words import NO_OFFSET, Outcome
from tests.rigs.generated.facts import MS, PUBLISHERS, QUEUES, SECOND
from tests.rigs.generated.rows import (
    DRAIN,
    LOAD,
    NO,
    NOT_REPORTED,
    RETRY,
    YES,
    Message,
    Place,
    Teller,
    confirmed,
)

SIX_NS = 6 * SECOND  # what is older than that a broker knows of a group's progress


def line(tell: Teller) -> None:
    """One line, or two, given out in another order than it was sent in."""
    producer, queue, key = tell.die.choice(PUBLISHERS), tell.die.choice(QUEUES), 0
    consumer, at_ns = tell.consumer(), tell.moment()
    told = tell.die.choice(["none", "all", "mixed", "mixed", "not told"])
    number = tell.die.randint(2, 6)
    places = list(range(number))
    way = tell.die.choice(["reversed", "rotated", "shuffled", "kept"])
    if way == "shuffled":
        tell.die.shuffle(places)
    elif way != "kept":
        places = places[::-1] if way == "reversed" else places[1:] + places[:1]
    tell.tag("line", way, told)
    first_ns = at_ns + tell.die.choice([0, SECOND, 3 * SECOND])
    connections = [1, 2] if tell.often(50) else [1]
    step_ns = tell.die.choice([0, 1, MS, SECOND])
    for place in places:
        message = tell.message(
            producer=producer, queue=queue, key=tell.die.choice([key] * 5 + [1])
        )
        sent_ns = at_ns + step_ns * tell.die.choice([place, place, place, 0])
        attempt = _send_in_line(tell, message, sent_ns, tell.die.choice(connections), step_ns)
        received_ns = first_ns + step_ns * places[place]
        tell.deliver(
            message,
            received_ns,
            attempt=attempt,
            redelivered=_flag(tell, told),
            consumer=consumer if tell.often(90) else tell.consumer(),
            via=tell.die.choice([LOAD] * 8 + [DRAIN, RETRY]),
            offset=place if told == "not told" and tell.often(60) else NO_OFFSET,
        )


def _send_in_line(
    tell: Teller, message: Message, sent_ns: int, connection: int, step_ns: int
) -> int:
    """The attempt that is given out."""
    settled_ns = max(sent_ns, tell.near(sent_ns + tell.die.choice([0, step_ns, 2 * step_ns])))
    sort = tell.die.choice(["confirmed"] * 6 + ["open", "refused too", "again", "again", "unsent"])
    if sort == "open":
        tell.send(message, sent_ns, connection=connection)
    elif sort == "refused too":
        refused = (tell.die.choice([Outcome.REFUSED, Outcome.RETURNED]), settled_ns)
        both = (refused, confirmed(settled_ns)) if tell.often(50) else (refused,)
        tell.send(message, sent_ns, *both, connection=connection)
    else:
        tell.send(message, sent_ns, confirmed(settled_ns), connection=connection)
    if sort == "again":
        later_ns = sent_ns + tell.die.choice([0, step_ns, 3 * step_ns])
        outcomes = (confirmed(later_ns),) if tell.often(60) else ()
        tell.send(message, later_ns, *outcomes, attempt=2, connection=connection)
        return tell.die.choice([1, 2])
    return 3 if sort == "unsent" and tell.often(50) else 1


def _flag(tell: Teller, told: str) -> int:
    if told == "mixed":
        return tell.die.choice([NO, YES])
    return {"none": NO, "all": YES, "not told": NOT_REPORTED}[told]


def log(tell: Teller) -> None:
    """A log whose earlier offsets are acknowledged, or never; then one of it comes again."""
    broker = tell.die.choice(["node 7", "node 7", "node 1"])
    queue, consumer = tell.die.choice(QUEUES), tell.consumer()
    connection, at_ns = tell.connection(), tell.moment()
    kept: list[tuple[Message, int, Place]] = []
    since_ns = at_ns
    for offset in range(tell.die.randint(1, 5)):
        message = tell.message(queue=queue)
        tell.send(message, at_ns, confirmed(at_ns))
        at = {"consumer": consumer, "connection": connection, "offset": offset}
        place = tell.deliver(message, at_ns, broker=broker, **at)  # type: ignore[arg-type]
        kept.append((message, offset, place))
        at_ns += tell.die.choice([0, MS, SECOND])
    holes = tell.often(40)
    tell.tag("log with holes" if holes else "log without holes")
    if not holes and tell.often(40):
        since_ns = at_ns + tell.a_while()
        tell.acknowledge(kept[0][2], since_ns, kept[-1][2])
    else:
        for _, _, place in kept:
            if not holes or tell.often(70):
                written_ns = at_ns + tell.a_while()
                since_ns = max(since_ns, written_ns)
                tell.acknowledge(place, written_ns)
    if tell.often(30):
        tell.lose(kept[0][2], tell.near(since_ns + tell.die.choice([0, SIX_NS, SIX_NS])))
    for _ in range(tell.die.choice([1, 1, 2])):
        message, offset, _ = tell.die.choice(kept)
        again_ns = tell.near(since_ns + tell.die.choice([SECOND, SIX_NS, SIX_NS, 2 * SIX_NS]))
        via = tell.die.choice([LOAD] * 6 + [DRAIN, RETRY, RETRY])
        retried = [f"{broker}/retry"] * 20 if via == RETRY else []
        tell.deliver(
            message,
            again_ns,
            broker=tell.die.choice([*retried, *[broker] * 8, "node 2", None]),
            offset=offset if tell.often(85) else tell.die.choice([offset + 9, NO_OFFSET]),
            redelivered=tell.die.choice([NO, YES, NOT_REPORTED]),
            via=via,
            queue=queue if tell.often(90) else tell.die.choice(QUEUES),
            connection=tell.connection(),
        )
