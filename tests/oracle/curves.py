"""The curves of a run's page: latencies by slice, sends by second."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from spark_analysis.schema.availability import Second
from spark_analysis.schema.curves import Latency, Sending, slice_length_s
from spark_analysis.schema.facts import Facts
from tests.oracle.messages import Message, Try

_SECOND_NS = 1_000_000_000


def latencies(
    facts: Facts, messages: Iterable[Message], seconds: Iterable[Second]
) -> tuple[Latency, ...]:
    if not facts.confirms:
        return ()
    slice_s = slice_length_s(row.second for row in seconds)
    took: defaultdict[int, list[int]] = defaultdict(list)
    for message in messages:
        due_ns = _due_ns(facts, message)
        if due_ns >= 0 and message.confirmed_ns is not None:
            took[due_ns // _SECOND_NS // slice_s * slice_s].append(message.confirmed_ns - due_ns)
    return tuple(
        Latency(facts.run, second, _at(50, times), _at(99, times), len(times))
        for second, times in sorted(took.items())
    )


def _due_ns(facts: Facts, message: Message) -> int:
    """Below 0: it has none."""
    if not facts.paced:
        return message.first_sent_ns
    first_try = message.attempt(1)
    return -1 if first_try is None else first_try.intended_ns


def _at(percent: int, times: Iterable[int]) -> int:
    ascending = sorted(times)
    return ascending[-(-percent * len(ascending) // 100) - 1]


def sending(facts: Facts, messages: Iterable[Message]) -> tuple[Sending, ...]:
    if not facts.confirms:
        return ()
    sent, failed = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for message in messages:
        for one in message.tries.values():
            if one.attempt.sent_ns >= 0:
                when = message.producer, one.attempt.sent_ns // _SECOND_NS
                sent[when] += 1
                failed[when] += _failed(one)
    return tuple(
        Sending(facts.run, *when, number, failed[when]) for when, number in sorted(sent.items())
    )


def _failed(one: Try) -> bool:
    return bool(one.settlements) and not one.confirms
