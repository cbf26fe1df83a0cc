"""Tales of lines and logs: what comes in another order than it was sent in, or again.

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


def line(writer: Teller) -> None:
    """One line, or two, given out in another order than it was sent in."""
    producer, queue, key = writer.die.choice(PUBLISHERS), writer.die.choice(QUEUES), 0
    consumer, at_ns = writer.consumer(), writer.moment()
    flags = writer.die.choice(["none", "all", "mixed", "mixed", "not told"])
    number = writer.die.randint(2, 6)
    places = list(range(number))
    way = writer.die.choice(["reversed", "rotated", "shuffled", "kept"])
    if way == "shuffled":
        writer.die.shuffle(places)
    elif way != "kept":
        places = places[::-1] if way == "reversed" else places[1:] + places[:1]
    writer.tag("line", way, flags)
    first_ns = at_ns + writer.die.choice([0, SECOND, 3 * SECOND])
    connections = [1, 2] if writer.often(50) else [1]
    step_ns = writer.die.choice([0, 1, MS, SECOND])
    for place in places:
        message = writer.message(
            producer=producer, queue=queue, key=writer.die.choice([key] * 5 + [1])
        )
        sent_ns = at_ns + step_ns * writer.die.choice([place, place, place, 0])
        attempt = _send_in_line(writer, message, sent_ns, writer.die.choice(connections), step_ns)
        received_ns = first_ns + step_ns * places[place]
        writer.deliver(
            message,
            received_ns,
            attempt=attempt,
            redelivered=_flag(writer, flags),
            consumer=consumer if writer.often(90) else writer.consumer(),
            via=writer.die.choice([LOAD] * 8 + [DRAIN, RETRY]),
            offset=place if flags == "not told" and writer.often(60) else NO_OFFSET,
        )


def _send_in_line(
    writer: Teller, message: Message, sent_ns: int, connection: int, step_ns: int
) -> int:
    """The attempt that is given out."""
    settled_ns = max(sent_ns, writer.near(sent_ns + writer.die.choice([0, step_ns, 2 * step_ns])))
    sort = writer.die.choice(
        ["confirmed"] * 6 + ["open", "refused too", "again", "again", "unsent"]
    )
    if sort == "open":
        writer.send(message, sent_ns, connection=connection)
    elif sort == "refused too":
        refused = (writer.die.choice([Outcome.REFUSED, Outcome.RETURNED]), settled_ns)
        both = (refused, confirmed(settled_ns)) if writer.often(50) else (refused,)
        writer.send(message, sent_ns, *both, connection=connection)
    else:
        writer.send(message, sent_ns, confirmed(settled_ns), connection=connection)
    if sort == "again":
        later_ns = sent_ns + writer.die.choice([0, step_ns, 3 * step_ns])
        outcomes = (confirmed(later_ns),) if writer.often(60) else ()
        writer.send(message, later_ns, *outcomes, attempt=2, connection=connection)
        return writer.die.choice([1, 2])
    return 3 if sort == "unsent" and writer.often(50) else 1


def _flag(writer: Teller, flags: str) -> int:
    if flags == "mixed":
        return writer.die.choice([NO, YES])
    return {"none": NO, "all": YES, "not told": NOT_REPORTED}[flags]


def log(writer: Teller) -> None:
    """A log whose earlier offsets are acknowledged, or never; then one of it comes again."""
    broker = writer.die.choice(["node 7", "node 7", "node 1"])
    queue, consumer = writer.die.choice(QUEUES), writer.consumer()
    connection, at_ns = writer.connection(), writer.moment()
    kept: list[tuple[Message, int, Place]] = []
    since_ns = at_ns
    for offset in range(writer.die.randint(1, 5)):
        message = writer.message(queue=queue)
        writer.send(message, at_ns, confirmed(at_ns))
        at = {"consumer": consumer, "connection": connection, "offset": offset}
        place = writer.deliver(message, at_ns, broker=broker, **at)  # type: ignore[arg-type]
        kept.append((message, offset, place))
        at_ns += writer.die.choice([0, MS, SECOND])
    holes = writer.often(40)
    writer.tag("log with holes" if holes else "log without holes")
    if not holes and writer.often(40):
        since_ns = at_ns + writer.a_while()
        writer.acknowledge(kept[0][2], since_ns, kept[-1][2])
    else:
        for _, _, place in kept:
            if not holes or writer.often(70):
                written_ns = at_ns + writer.a_while()
                since_ns = max(since_ns, written_ns)
                writer.acknowledge(place, written_ns)
    if writer.often(30):
        writer.lose(kept[0][2], writer.near(since_ns + writer.die.choice([0, SIX_NS, SIX_NS])))
    for _ in range(writer.die.choice([1, 1, 2])):
        message, offset, _ = writer.die.choice(kept)
        again_ns = writer.near(since_ns + writer.die.choice([SECOND, SIX_NS, SIX_NS, 2 * SIX_NS]))
        via = writer.die.choice([LOAD] * 6 + [DRAIN, RETRY, RETRY])
        retried = [f"{broker}/retry"] * 20 if via == RETRY else []
        writer.deliver(
            message,
            again_ns,
            broker=writer.die.choice([*retried, *[broker] * 8, "node 2", None]),
            offset=offset if writer.often(85) else writer.die.choice([offset + 9, NO_OFFSET]),
            redelivered=writer.die.choice([NO, YES, NOT_REPORTED]),
            via=via,
            queue=queue if writer.often(90) else writer.die.choice(QUEUES),
            connection=writer.connection(),
        )
