"""PURE: workers, faults and ends of connections by the names that people know them by."""

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from harness.claims.doubts import worker_name
from harness.plan.fault_words import fault_words
from spark_analysis.schema import measures
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Outcome, level_text

_LOST, _GIVEN_UP = "connection lost", "connection given up by the publisher:"
# The same after a number of attempts.
_COUNTED_AS = {
    _LOST: "on a lost connection",
    _GIVEN_UP.removesuffix(":"): "on a connection that the publisher gave up",
}
_BY_PUBLISHER = f"{_LOST}: closed by the publisher:"  # as publishers record it
# What an error says beside its cause: where to read on, and a number that its record leaves out.
_ASIDE = re.compile(r"(, #\(ms\)| ?(For more information|See http).*?(?=, which caused | < |$))")
_CAUSED = (", which caused ", " < ")  # between the causes of an error: now, and in older records
# An address in a client's error: `<rkg2/172.31.124.210:10921>`, `connect to rkd3:10931 failed`.
_ADDRESS = re.compile(
    r"(?:\bto|\bchannel) ?<?(?P<host>[\w.-]+)?(?:/(?P<ip>[\w.]+))?:(?P<port>\d{1,5})\b"
)


def named_worker(number: int, facts: Facts, names: Mapping[int, str]) -> str:
    """Return `publisher 1`; of workers without load, such as `drain-orders`, the name of the log.
    `names`: of all workers, by number."""
    known = any(worker.number == number for worker in facts.workers)
    return worker_name(number, facts) if known else names.get(number, worker_name(number, facts))


def fault_of_plan(schedule: Mapping[str, Any], window: int, kind: str, place: str) -> str:
    """Return `hang publishers' links to ref1`. `schedule`: of the manifest, with the options of
    each fault."""
    planned = (one for one in schedule.get("windows", []) if one["number"] == window)
    fault: Mapping[str, Any] = next((one.get("fault", {}) for one in planned), {})
    return fault_words(kind, place, clients_of(fault))


def clients_of(fault: Mapping[str, Any]) -> str:
    """Return whose links or processes a planned fault affects; "" if its record does not say.
    Options stand in `options`, or beside it."""
    return str(fault.get("clients") or fault.get("options", {}).get("clients", ""))


def detail_text(detail: str) -> str:
    """Return the detail of a count in words: `not certain`, or `confirmed by all required
    replicas`."""
    text = level_text(detail)
    return detail.replace("_", " ") if text == detail else f"confirmed {text}"


def detail_name(measure: str, detail: str) -> str:
    """Return the detail of a measure by its one name: a title of the register, such as `sent again
    by its publisher`; else in words."""
    known = measures.detail(measure, detail) if measure in measures.BY_NAME else None
    return known.title if known is not None else detail_text(detail)


def lost_text(detail: str) -> str:
    """Return `connection lost: reset by peer`. `detail`: as recorded."""
    return given_up(f"{_LOST}: {detail}".removesuffix(": "))


def given_up(text: str) -> str:
    """Return an end of a connection in words: a publisher that closes a silent one gives it up."""
    return text.replace(_BY_PUBLISHER, _GIVEN_UP, 1)


def not_accepted(raw: str, meanings: Mapping[str, str]) -> str:
    """Return why an attempt was certainly not accepted: `refused` if the broker refused it.
    `raw`: what the client reported. `meanings`: Family.not_accepted of its client."""
    return next((words for mark, words in meanings.items() if mark in raw), "refused")


def failed_as(outcome: int, answer: str, meanings: Mapping[str, str]) -> str:
    """Return how an attempt failed, after a number: `answered with nack`, `connection lost`.
    `answer`: of the mart `answers`. `meanings`: what its client reports of such attempts."""
    if outcome == Outcome.REFUSED:
        meaning = not_accepted(answer, meanings)
        known = meaning != "refused" or not answer
        return meaning.partition(",")[0] if known else f"{meaning} ({answer})"
    if answer.startswith(_BY_PUBLISHER.removesuffix(":")):
        return _GIVEN_UP.removesuffix(":")
    if answer.startswith(_LOST):
        return _LOST
    if answer == "nack":
        return "answered with nack"
    known_as = (words for mark, words in meanings.items() if mark in answer)
    return next(known_as, answer or f"outcome {Outcome(outcome).name.lower()}")


def counted_text(counts: Mapping[str, int]) -> str:
    """Return `127,301 answered with nack, 4 on a lost connection`: the most frequent first."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{number:,} {_COUNTED_AS.get(words, words)}" for words, number in ordered)


def address_in(raw: str) -> str:
    """Return the address that a client's error names, such as `rkg2:10921`; "" without one."""
    found = _ADDRESS.search(raw)
    host = found and (found["host"] or found["ip"])
    return f"{host}:{found['port']}" if found and host else ""


def error_text(raw: str) -> str:
    """Return a client's error for people: where to read on is left out, and a cause that only
    repeats the one before it stands once."""
    raw = _ASIDE.sub("", raw)
    for mark in _CAUSED:
        causes = [cause for cause, _ in groupby(raw.split(mark))]
        if len(causes) > 1 and causes[-2].startswith(causes[-1]):
            del causes[-1]  # a repeat that the record cut short
        raw = mark.join(causes)
    return raw


def log_text(place: str) -> str:
    """Return `ns4, queue 0 of topic orders`. `place`: as audits record it, `ns4 orders/0`."""
    host, _, log = place.partition(" ")
    topic, _, queue = log.rpartition("/")
    return f"{host}, queue {queue} of topic {topic}" if topic and queue.isdecimal() else place


def has_queue(broker: str) -> bool:
    """Return whether a delivery came from the queue that its message was sent to: `broker-b/0`.
    The retry topic has queues of its own: `broker-b/retry/0`."""
    return broker.count("/") == 1


def queue_text(broker: str) -> str:
    """Return `broker-b, queue 0`. `broker`: as deliveries record it, such as `broker-b/retry/0`;
    without a queue the broker alone."""
    name, _, queue = broker.partition("/")
    return f"{name}, queue {queue.rpartition('/')[2]}" if queue else name
