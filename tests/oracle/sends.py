"""Whose sends failed under a fault, how many of them, until when and how."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.sends import FailedAnswer, Sends, Sent, answer_of
from tests.oracle import events, messages
from tests.oracle.events import Row
from tests.oracle.messages import Try


def sends(facts: Facts, rows: Mapping[str, Iterable[Row]]) -> Sends:
    """The marts of one run; `rows` maps raw tables to rows by column, missing ones empty."""
    if not facts.confirms:
        return Sends()
    tries = defaultdict[int, list[Try]](list)
    for message in messages.fold(events.read(rows, facts)).values():
        tries[message.producer] += (one for one in message.tries.values() if one.attempt.sent)
    every = [(window, *of) for window in facts.windows for of in tries.items()]
    return Sends(
        tuple(row for each in every for row in _row(facts, *each)),
        tuple(row for each in every for row in _answers(facts, *each)),
    )


def _inside(facts: Facts, window: Window, made: Iterable[Try]) -> list[Try]:
    since = window.origin_ns
    return [one for one in made if since <= one.attempt.sent_ns < facts.load_ended_ns]


def _answers(
    facts: Facts, window: Window, producer: int, made: Iterable[Try]
) -> Iterator[FailedAnswer]:
    failed = [one for one in _inside(facts, window, made) if _failed_ns(one) is not None]
    for (outcome, answer), number in Counter(map(_answer, failed)).items():
        yield FailedAnswer(facts.run, window.number, producer, outcome, answer, number)


def _answer(one: Try) -> tuple[int, str]:
    answers = ((each.settled_ns, each.outcome, answer_of(each.raw)) for each in one.settlements)
    _, outcome, answer = min(answers)
    return int(outcome), answer


def _row(facts: Facts, window: Window, producer: int, made: Iterable[Try]) -> Iterator[Sent]:
    """At most one."""
    since, sent = window.origin_ns, _inside(facts, window, made)
    if not sent:
        return
    failed = [at_ns - since for one in sent if (at_ns := _failed_ns(one)) is not None]
    last = max(failed, default=None)
    yield Sent(
        run=facts.run,
        window=window.number,
        producer=producer,
        sent=len(sent),
        failed=len(failed),
        first_failed_ns=min(failed, default=None),
        last_failed_ns=last,
        sent_by_then=0
        if last is None
        else sum(one.attempt.sent_ns - since <= last for one in sent),
    )


def _failed_ns(one: Try) -> int | None:
    if not one.settlements or one.confirms:
        return None
    return min(settlement.settled_ns for settlement in one.settlements)
