"""Tales of what a broker promises from end to end, told into generated runs.

1. Each tale is a few messages on which one rule of messages.py turns; its times lie at the edge
   of the rule often: a second, six seconds, a deadline, exactly or all but.
2. Thrown with a die of their own, after everything else of a run is known.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Outcome
from tests.rigs.generated.facts import CONSUMERS, MS, QUEUES, SECOND
from tests.rigs.generated.lines import line, log
from tests.rigs.generated.rows import (
    AUDIT,
    DRAIN,
    LOAD,
    NO,
    NOT_REPORTED,
    RETRY,
    YES,
    Message,
    Place,
    Rows,
    Teller,
    confirmed,
)
from tests.rigs.generated.stalls import stalls

EARLIER = 5_000  # messages; a longer run gets no tales


def with_tales(facts: Facts, rows: Rows, seed: int, tags: set[str]) -> Facts:
    """Adds the rows of some tales, or none; the facts that go with them."""
    die = Random(f"tales of {seed}")
    teller = Teller(facts, rows, die, tags)
    number = die.choice([0, 0, 1, 2, 3, 4])
    if len(rows.get("attempts", ())) > EARLIER:
        number = 0
    for tale in die.choices(TALES, k=number):
        teller.tag("tale:", tale.__name__)
        tale(teller)
    if die.random() < 0.25:
        stalls(teller)
    return teller.facts


# --- given out, and what became of it ---


def not_redelivered(writer: Teller) -> None:
    """Given out on a connection that ended; acknowledged or not, given out again or not."""
    message, sent_ns = writer.message(), writer.moment()
    is_confirmed = Random(f"confirmed {message} {sent_ns}").randrange(100) < 35
    overs_ns = [one.over_ns for one in writer.facts.of_cluster if one.over_ns is not None]
    may_go = bool(overs_ns) and not is_confirmed  # a fault of the cluster may take it
    if may_go:
        sent_ns = max(0, max(overs_ns) - 2 * SECOND)
        closed = (replace(worker, log_closed=True) for worker in writer.facts.workers)
        writer.facts = replace(writer.facts, workers=tuple(closed))
    writer.send(message, sent_ns, *([confirmed(sent_ns + MS)] if is_confirmed else []))
    writer.tag("confirmed" if is_confirmed else "never confirmed")
    received_ns = sent_ns + writer.a_while()
    via = writer.die.choice([LOAD, LOAD, LOAD, RETRY, DRAIN])
    place = writer.deliver(message, received_ns, via=via, connection=writer.connection())
    ended_ns = None
    if writer.often(85) or may_go:
        writer.tag("connection ends")
        ended_ns = writer.near(received_ns + writer.die.choice([0, 0, SECOND]))
        writer.lose(place, ended_ns)
        if writer.often(15):
            writer.lose(place, ended_ns + SECOND)
    if writer.often(20) and not may_go:
        writer.tag("acknowledged after all")
        answered_ns = received_ns + writer.a_while()
        writer.acknowledge(place, _perhaps_after(ended_ns, answered_ns))
    if writer.often(35) and not may_go:
        writer.tag("given out again")
        again_ns = received_ns + writer.a_while()
        again = writer.die.choice([LOAD, LOAD, RETRY, DRAIN, AUDIT])
        second = writer.deliver(
            message, again_ns, via=again, redelivered=YES, connection=writer.connection()
        )
        if writer.often(60):
            writer.lose(second, writer.near(again_ns))
    else:
        writer.tag("never given out again")


def _perhaps_after(ended_ns: int | None, answered_ns: int) -> int:
    """Half of the time just after the end of the connection, or a second after it."""
    die = Random(f"answered {answered_ns}")
    if ended_ns is None or die.randrange(2):
        return answered_ns
    return ended_ns + die.choice([1, SECOND, SECOND, SECOND + 1])


def acknowledged(writer: Teller) -> None:
    """Acknowledged, and given out again: a second after that, or just less."""
    message, sent_ns = writer.message(), writer.moment()
    writer.send(message, sent_ns, confirmed(sent_ns))
    received_ns = sent_ns + writer.die.choice([0, MS, SECOND])
    place = writer.deliver(message, received_ns, connection=writer.connection())
    edges = [edge for edge in writer.edges() if edge >= received_ns]
    limit_ns = writer.die.choice([*edges, received_ns + SECOND, received_ns + 3 * SECOND])
    if writer.often(80):
        writer.acknowledge(place, writer.near(limit_ns - SECOND))
    if writer.often(40):
        writer.tag("connection ends a second after the acknowledgement")
        writer.lose(place, writer.near(limit_ns))
    again_ns = writer.near(limit_ns) if writer.often(50) else limit_ns + writer.a_while()
    copies = writer.die.choice([1, 1, 2])
    for copy in range(copies):
        _copy(writer, message, again_ns + copy * writer.die.choice([0, SECOND]), place)


def _copy(writer: Teller, message: Message, at_ns: int, earlier: Place) -> None:
    flag = writer.die.choice([YES, YES, YES, NO, NOT_REPORTED])
    via = writer.die.choice([LOAD, LOAD, LOAD, DRAIN, RETRY])
    writer.tag("copy, flagged", flag)
    same = earlier.connection if writer.often(20) else writer.connection()
    place = writer.deliver(message, at_ns, via=via, redelivered=flag, connection=same)
    if writer.often(30):
        writer.acknowledge(place, at_ns + writer.a_while())


def competing_leaders(writer: Teller) -> None:
    """A copy from the second master, or a rightful redelivery at its side."""
    if not writer.facts.competing_leaders:
        return
    pair = writer.die.choice(writer.facts.competing_leaders)
    message = writer.message(queue=pair.queue)
    writer.send(message, max(0, pair.from_ns - SECOND), confirmed(pair.from_ns))
    first_ns = writer.near(pair.from_ns - writer.die.choice([0, SECOND, 2 * SECOND]))
    place = writer.deliver(message, max(0, first_ns), connection=writer.connection())
    if writer.often(50):
        writer.acknowledge(place, max(0, first_ns))
    at_ns = writer.near(writer.die.choice([pair.from_ns, pair.until_ns, pair.until_ns]))
    writer.tag("copy under rivals")
    _copy(writer, message, max(0, at_ns), place)


def widow(writer: Teller) -> None:
    """A host never returns; copies come just as serving and consuming have resumed."""
    gone = [w for w in writer.facts.windows if w.ended_ns is None and w.over_ns is None]
    if not gone:
        return
    writer.tag("host never returns")
    window = writer.die.choice(gone)
    sent_ns = window.returned_ns + writer.die.choice([0, 0, MS])
    resumed_ns = sent_ns + writer.die.choice([0, MS])
    probe = writer.message()
    writer.send(probe, sent_ns, confirmed(resumed_ns))
    writer.deliver(probe, resumed_ns)
    message = writer.message()
    writer.send(message, max(0, window.origin_ns - MS), confirmed(window.origin_ns))
    first_ns = writer.near(writer.die.choice([window.origin_ns, resumed_ns, resumed_ns]))
    writer.deliver(message, max(0, first_ns))
    flag = writer.die.choice([NO, NO, YES])
    writer.deliver(message, max(0, first_ns) + writer.a_while(), redelivered=flag)


# --- attempts ---


def attempts(writer: Teller) -> None:
    """Several attempts, each with its own fate; only some of them are ever seen."""
    message, at_ns = writer.message(), writer.moment()
    number = writer.die.choice([1, 2, 2, 3])
    for attempt in range(1, number + 1):
        sent_ns = NEVER_SENT if attempt == 1 and writer.often(5) else at_ns
        outcomes = writer.die.choice(
            [
                *[(Outcome.CONFIRMED,)] * 4,
                *((Outcome.REFUSED,), (Outcome.REFUSED,), (Outcome.RETURNED,)),
                *((), (Outcome.UNKNOWN,), (Outcome.RETURNED, Outcome.CONFIRMED)),
                *((Outcome.REFUSED, Outcome.RETURNED), (Outcome.CONFIRMED, Outcome.CONFIRMED)),
            ]
        )
        settled = [(outcome, at_ns + writer.die.choice([0, MS, SECOND])) for outcome in outcomes]
        writer.send(message, sent_ns, *settled, attempt=attempt)
        if writer.often(20):
            writer.delay(message, attempt, at_ns + writer.die.choice([0, SECOND, 60 * SECOND]))
        if writer.often(55):
            via = writer.die.choice([LOAD, LOAD, LOAD, DRAIN, AUDIT, RETRY])
            writer.deliver(message, at_ns + writer.a_while(), attempt=attempt, via=via)
        else:
            writer.tag("an attempt is never seen")
        at_ns += writer.die.choice([0, MS, SECOND])


def misrouted(writer: Teller) -> None:
    """Delivered in another queue than its own."""
    message, at_ns = writer.message(), writer.moment()
    if writer.often(10):
        message = Message(message.producer, message.sequence, None, message.key)
    writer.send(message, at_ns, confirmed(at_ns + MS))
    other = writer.die.choice([*QUEUES, *QUEUES, "retries", None])
    via = writer.die.choice([LOAD, LOAD, DRAIN, RETRY, AUDIT])
    writer.deliver(message, at_ns + writer.a_while(), via=via, queue=other)
    if writer.often(30):
        writer.deliver(message, at_ns + SECOND, redelivered=YES)


def delayed(writer: Teller) -> None:
    """A delayed message comes by just less or more than may be."""
    message, consumer = writer.message(), writer.consumer()
    wait_ns = writer.die.choice([0, MS, SECOND, 5 * SECOND, 1_234_567_891])
    bound_ns = wait_ns // 1_000 + MS + writer.bound_ns(message.producer, consumer)
    via = writer.die.choice([LOAD, LOAD, DRAIN, DRAIN, RETRY])
    sent_ns = writer.moment()
    took_ns = writer.die.choice([0, MS, 400 * MS])
    if via == DRAIN:
        latest_ns = writer.facts.load_ended_ns - SECOND - bound_ns - wait_ns - took_ns
        sent_ns = max(0, writer.near(latest_ns) if writer.often(70) else min(latest_ns, sent_ns))
    writer.send(message, sent_ns, confirmed(sent_ns + took_ns))
    writer.delay(message, 1, sent_ns + wait_ns)
    limit_ns = sent_ns + took_ns + wait_ns + bound_ns + SECOND
    early_ns = writer.die.choice([0, 0, 0, 0, SECOND, wait_ns])
    received_ns = max(sent_ns, writer.near(limit_ns) - early_ns)
    writer.tag("delayed, late by", received_ns - limit_ns if not early_ns else "less")
    writer.deliver(message, received_ns, via=via, consumer=consumer)


def before_its_time(writer: Teller) -> None:
    """Delivered, or settled, before it was sent: as far as clocks may be off, or further."""
    if writer.often(60):  # an instrument that is wrong says so in few runs
        return
    message, consumer = writer.message(), writer.consumer()
    sent_ns = writer.moment() + SECOND
    bound_ns = writer.bound_ns(message.producer, consumer)
    settled_ns = writer.near(sent_ns) if writer.often(50) else sent_ns
    writer.send(
        message, sent_ns, (writer.die.choice([Outcome.CONFIRMED, Outcome.REFUSED]), settled_ns)
    )
    received_ns = max(0, writer.near(sent_ns - bound_ns))
    writer.deliver(message, received_ns, consumer=consumer)
    writer.tag("received before it was sent", received_ns + bound_ns < sent_ns)


# --- what is charged to whom, and who waits ---


def lost_nearby(writer: Teller) -> None:
    """Something is lost near a window: when it should have come, the window just began, or not."""
    queue, deadline_ns = writer.die.choice(QUEUES), writer.facts.deadline_ns
    settled_ns = writer.moment()
    message = writer.message(queue=queue)
    outcome = writer.die.choice([Outcome.CONFIRMED, Outcome.CONFIRMED, Outcome.UNKNOWN])
    writer.send(message, max(0, settled_ns - MS), (outcome, settled_ns))
    if writer.often(25):
        writer.deliver(message, settled_ns + writer.a_while(), via=AUDIT)
    later = [edge for edge in writer.edges() if edge - deadline_ns >= settled_ns]
    by_ns = writer.near(writer.die.choice(later)) if later else settled_ns + writer.a_while()
    other = writer.message(queue=queue)
    other_ns = max(0, writer.near(settled_ns)) if writer.often(50) else settled_ns + MS
    writer.send(other, max(0, other_ns - MS), confirmed(other_ns))
    via = writer.die.choice([LOAD, LOAD, LOAD, RETRY, DRAIN])
    writer.deliver(other, max(0, by_ns - deadline_ns), via=via)
    writer.tag("lost, with a window ahead" if later else "lost, with none ahead")


def waiting(writer: Teller) -> None:
    """Messages that wait a deadline for their delivery, or all but, while a window is judged."""
    deadline_ns = writer.facts.deadline_ns
    for _ in range(writer.die.choice([1, 2, 3])):
        message, settled_ns = writer.message(), writer.moment()
        writer.send(message, max(0, settled_ns - MS), confirmed(settled_ns))
        due_ns = settled_ns
        if writer.often(25):
            due_ns = settled_ns + writer.die.choice([0, SECOND])
            writer.delay(message, 1, due_ns)
        ahead = [edge for edge in writer.edges() if edge >= due_ns]
        received_ns = due_ns + deadline_ns + writer.die.choice([-1, 0, 1, SECOND])
        if ahead and writer.often(50):
            received_ns = max(0, writer.near(writer.die.choice(ahead)))
        via = writer.die.choice([LOAD, LOAD, LOAD, RETRY, DRAIN])
        writer.deliver(message, received_ns, via=via, consumer=writer.die.choice(CONSUMERS))


TALES: tuple[Callable[[Teller], None], ...] = (
    *(
        not_redelivered,
        not_redelivered,
        acknowledged,
        acknowledged,
        competing_leaders,
        widow,
        attempts,
        attempts,
    ),
    *(misrouted, delayed, delayed, before_its_time, line, line, log, log),
    *(lost_nearby, waiting),
)
