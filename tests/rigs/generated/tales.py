"""Tales of what a broker promises from end to end, told into generated runs.

1. Each tale is a few messages on which one rule of messages.py turns; its times lie at the edge
   of the rule often: a second, six seconds, a deadline, exactly or all but.
2. Thrown with a die of their own, after everything else of a run is known.
"""

from collections.abc import Callable
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

EARLIER = 5_000  # messages; a longer run is told no tales


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


def not_redelivered(tell: Teller) -> None:
    """Given out on a connection that ended; acknowledged or not, given out again or not."""
    message, sent_ns = tell.message(), tell.moment()
    tell.send(message, sent_ns, confirmed(sent_ns + MS))
    received_ns = sent_ns + tell.a_while()
    via = tell.die.choice([LOAD, LOAD, LOAD, RETRY, DRAIN])
    place = tell.deliver(message, received_ns, via=via, connection=tell.connection())
    if tell.often(85):
        tell.tag("connection ends")
        ended_ns = tell.near(received_ns + tell.die.choice([0, 0, SECOND]))
        tell.lose(place, ended_ns)
        if tell.often(15):
            tell.lose(place, ended_ns + SECOND)
    if tell.often(20):
        tell.tag("acknowledged after all")
        tell.acknowledge(place, received_ns + tell.a_while())
    if tell.often(35):
        tell.tag("given out again")
        again_ns = received_ns + tell.a_while()
        again = tell.die.choice([LOAD, LOAD, RETRY, DRAIN, AUDIT])
        second = tell.deliver(
            message, again_ns, via=again, redelivered=YES, connection=tell.connection()
        )
        if tell.often(60):
            tell.lose(second, tell.near(again_ns))
    else:
        tell.tag("never given out again")


def acknowledged(tell: Teller) -> None:
    """Acknowledged, and given out again: a second after that, or just less."""
    message, sent_ns = tell.message(), tell.moment()
    tell.send(message, sent_ns, confirmed(sent_ns))
    received_ns = sent_ns + tell.die.choice([0, MS, SECOND])
    place = tell.deliver(message, received_ns, connection=tell.connection())
    edges = [edge for edge in tell.edges() if edge >= received_ns]
    limit_ns = tell.die.choice([*edges, received_ns + SECOND, received_ns + 3 * SECOND])
    if tell.often(80):
        tell.acknowledge(place, tell.near(limit_ns - SECOND))
    if tell.often(40):
        tell.tag("connection ends a second after the acknowledgement")
        tell.lose(place, tell.near(limit_ns))
    again_ns = tell.near(limit_ns) if tell.often(50) else limit_ns + tell.a_while()
    copies = tell.die.choice([1, 1, 2])
    for copy in range(copies):
        _copy(tell, message, again_ns + copy * tell.die.choice([0, SECOND]), place)


def _copy(tell: Teller, message: Message, at_ns: int, earlier: Place) -> None:
    flag = tell.die.choice([YES, YES, YES, NO, NOT_REPORTED])
    via = tell.die.choice([LOAD, LOAD, LOAD, DRAIN, RETRY])
    tell.tag("copy, flagged", flag)
    same = earlier.connection if tell.often(20) else tell.connection()
    place = tell.deliver(message, at_ns, via=via, redelivered=flag, connection=same)
    if tell.often(30):
        tell.acknowledge(place, at_ns + tell.a_while())


def competing_leaders(tell: Teller) -> None:
    """A copy from the second master, or a rightful redelivery at its side."""
    if not tell.facts.competing_leaders:
        return
    pair = tell.die.choice(tell.facts.competing_leaders)
    message = tell.message(queue=pair.queue)
    tell.send(message, max(0, pair.from_ns - SECOND), confirmed(pair.from_ns))
    first_ns = tell.near(pair.from_ns - tell.die.choice([0, SECOND, 2 * SECOND]))
    place = tell.deliver(message, max(0, first_ns), connection=tell.connection())
    if tell.often(50):
        tell.acknowledge(place, max(0, first_ns))
    at_ns = tell.near(tell.die.choice([pair.from_ns, pair.until_ns, pair.until_ns]))
    tell.tag("copy under rivals")
    _copy(tell, message, max(0, at_ns), place)


def widow(tell: Teller) -> None:
    """A host never returns; copies come just as serving and consuming have resumed."""
    gone = [w for w in tell.facts.windows if w.ended_ns is None and w.over_ns is None]
    if not gone:
        return
    tell.tag("host never returns")
    window = tell.die.choice(gone)
    sent_ns = window.returned_ns + tell.die.choice([0, 0, MS])
    resumed_ns = sent_ns + tell.die.choice([0, MS])
    probe = tell.message()
    tell.send(probe, sent_ns, confirmed(resumed_ns))
    tell.deliver(probe, resumed_ns)
    message = tell.message()
    tell.send(message, max(0, window.origin_ns - MS), confirmed(window.origin_ns))
    first_ns = tell.near(tell.die.choice([window.origin_ns, resumed_ns, resumed_ns]))
    tell.deliver(message, max(0, first_ns))
    flag = tell.die.choice([NO, NO, YES])
    tell.deliver(message, max(0, first_ns) + tell.a_while(), redelivered=flag)


# --- attempts ---


def attempts(tell: Teller) -> None:
    """Several attempts, each with its own fate; only some of them are ever seen."""
    message, at_ns = tell.message(), tell.moment()
    number = tell.die.choice([1, 2, 2, 3])
    for attempt in range(1, number + 1):
        sent_ns = NEVER_SENT if attempt == 1 and tell.often(5) else at_ns
        outcomes = tell.die.choice(
            [
                *[(Outcome.CONFIRMED,)] * 4,
                *((Outcome.REFUSED,), (Outcome.REFUSED,), (Outcome.RETURNED,)),
                *((), (Outcome.UNKNOWN,), (Outcome.RETURNED, Outcome.CONFIRMED)),
                *((Outcome.REFUSED, Outcome.RETURNED), (Outcome.CONFIRMED, Outcome.CONFIRMED)),
            ]
        )
        settled = [(outcome, at_ns + tell.die.choice([0, MS, SECOND])) for outcome in outcomes]
        tell.send(message, sent_ns, *settled, attempt=attempt)
        if tell.often(20):
            tell.delay(message, attempt, at_ns + tell.die.choice([0, SECOND, 60 * SECOND]))
        if tell.often(55):
            via = tell.die.choice([LOAD, LOAD, LOAD, DRAIN, AUDIT, RETRY])
            tell.deliver(message, at_ns + tell.a_while(), attempt=attempt, via=via)
        else:
            tell.tag("an attempt is never seen")
        at_ns += tell.die.choice([0, MS, SECOND])


def misrouted(tell: Teller) -> None:
    """Delivered in another queue than its own."""
    message, at_ns = tell.message(), tell.moment()
    if tell.often(10):
        message = Message(message.producer, message.sequence, None, message.key)
    tell.send(message, at_ns, confirmed(at_ns + MS))
    other = tell.die.choice([*QUEUES, *QUEUES, "retries", None])
    via = tell.die.choice([LOAD, LOAD, DRAIN, RETRY, AUDIT])
    tell.deliver(message, at_ns + tell.a_while(), via=via, queue=other)
    if tell.often(30):
        tell.deliver(message, at_ns + SECOND, redelivered=YES)


def delayed(tell: Teller) -> None:
    """A delayed message comes by just less or more than may be."""
    message, consumer = tell.message(), tell.consumer()
    wait_ns = tell.die.choice([0, MS, SECOND, 5 * SECOND, 1_234_567_891])
    bound_ns = wait_ns // 1_000 + MS + tell.bound_ns(message.producer, consumer)
    via = tell.die.choice([LOAD, LOAD, DRAIN, DRAIN, RETRY])
    sent_ns = tell.moment()
    took_ns = tell.die.choice([0, MS, 400 * MS])
    if via == DRAIN:
        latest_ns = tell.facts.load_ended_ns - SECOND - bound_ns - wait_ns - took_ns
        sent_ns = max(0, tell.near(latest_ns) if tell.often(70) else min(latest_ns, sent_ns))
    tell.send(message, sent_ns, confirmed(sent_ns + took_ns))
    tell.delay(message, 1, sent_ns + wait_ns)
    limit_ns = sent_ns + took_ns + wait_ns + bound_ns + SECOND
    early_ns = tell.die.choice([0, 0, 0, 0, SECOND, wait_ns])
    received_ns = max(sent_ns, tell.near(limit_ns) - early_ns)
    tell.tag("delayed, late by", received_ns - limit_ns if not early_ns else "less")
    tell.deliver(message, received_ns, via=via, consumer=consumer)


def before_its_time(tell: Teller) -> None:
    """Delivered, or settled, before it was sent: as far as clocks may be off, or further."""
    if tell.often(60):  # an instrument that is wrong says so in few runs
        return
    message, consumer = tell.message(), tell.consumer()
    sent_ns = tell.moment() + SECOND
    bound_ns = tell.bound_ns(message.producer, consumer)
    settled_ns = tell.near(sent_ns) if tell.often(50) else sent_ns
    tell.send(
        message, sent_ns, (tell.die.choice([Outcome.CONFIRMED, Outcome.REFUSED]), settled_ns)
    )
    received_ns = max(0, tell.near(sent_ns - bound_ns))
    tell.deliver(message, received_ns, consumer=consumer)
    tell.tag("received before it was sent", received_ns + bound_ns < sent_ns)


# --- what is charged to whom, and who waits ---


def lost_nearby(tell: Teller) -> None:
    """Something is lost near a window: when it should have come, the window just began, or not."""
    queue, deadline_ns = tell.die.choice(QUEUES), tell.facts.deadline_ns
    settled_ns = tell.moment()
    message = tell.message(queue=queue)
    outcome = tell.die.choice([Outcome.CONFIRMED, Outcome.CONFIRMED, Outcome.UNKNOWN])
    tell.send(message, max(0, settled_ns - MS), (outcome, settled_ns))
    if tell.often(25):
        tell.deliver(message, settled_ns + tell.a_while(), via=AUDIT)
    later = [edge for edge in tell.edges() if edge - deadline_ns >= settled_ns]
    by_ns = tell.near(tell.die.choice(later)) if later else settled_ns + tell.a_while()
    other = tell.message(queue=queue)
    other_ns = max(0, tell.near(settled_ns)) if tell.often(50) else settled_ns + MS
    tell.send(other, max(0, other_ns - MS), confirmed(other_ns))
    via = tell.die.choice([LOAD, LOAD, LOAD, RETRY, DRAIN])
    tell.deliver(other, max(0, by_ns - deadline_ns), via=via)
    tell.tag("lost, with a window ahead" if later else "lost, with none ahead")


def waiting(tell: Teller) -> None:
    """Messages that wait a deadline for their delivery, or all but, while a window is judged."""
    deadline_ns = tell.facts.deadline_ns
    for _ in range(tell.die.choice([1, 2, 3])):
        message, settled_ns = tell.message(), tell.moment()
        tell.send(message, max(0, settled_ns - MS), confirmed(settled_ns))
        due_ns = settled_ns
        if tell.often(25):
            due_ns = settled_ns + tell.die.choice([0, SECOND])
            tell.delay(message, 1, due_ns)
        ahead = [edge for edge in tell.edges() if edge >= due_ns]
        received_ns = due_ns + deadline_ns + tell.die.choice([-1, 0, 1, SECOND])
        if ahead and tell.often(50):
            received_ns = max(0, tell.near(tell.die.choice(ahead)))
        via = tell.die.choice([LOAD, LOAD, LOAD, RETRY, DRAIN])
        tell.deliver(message, received_ns, via=via, consumer=tell.die.choice(CONSUMERS))


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
