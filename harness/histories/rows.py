"""Rows of a history from Jepsen or OpenChaos, and their conversion to records of ours.

1. An enqueue is an attempt to publish the message of its value; the same value again is another
   attempt of the same message. Its end settles it; without an end its outcome is unknown.
2. A dequeue that ended ok is a delivery, and so is each element of a drain that did. The format
   does not say which of several attempts came: of those that had been sent the likeliest comes
   first, each once, before any comes again.
3. A consumer whose dequeue or drain has no end, or an unknown one, may hold an unknown message:
   its log is not closed. If the file lacks operations, no log is.
4. A queue was drained if a drain ended ok that began after everything else had ended; otherwise
   this is unknown. The format has no redelivery, offsets, acknowledgements or confirm levels.
5. Their faults were not verified, so they are leadership changes (`leadership_changes`), from
   their start on: never windows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.histories.history import Cell, History
from spark_analysis.schema.facts import Facts, LeadershipChange, QueueEnd, Worker
from spark_analysis.schema.words import NO_INTENT, NO_OFFSET, Outcome, Redelivered, Strength, Via

ENQUEUE, DEQUEUE, DRAIN, FAULT = "enqueue", "dequeue", "drain", "fault"
INVOKE, OK, FAIL, INFO = "invoke", "ok", "fail", "info"
START, END = "start", "end"
MS = 1_000_000
QUEUE = "queue"
FAULTS_UNJUDGED = (
    "the faults of this history were not verified, so no claim about a fault is judged"
)
CUT = (
    "the file lacks operations (`:index` has a gap, or ends lack their beginnings), and what was "
    "sent or received then is unknown"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line. Rows are in the order of their file, which means something to some judges."""

    at_ns: int
    client: str
    f: str
    ev: str
    value: str | tuple[str, ...] | None = None  # several: a drain's; a fault's is its name
    key: str | None = None
    latency_ns: int | None = None  # of a response: how long it took
    unclear: bool = False  # it failed, and yet may have happened
    index: int | None = field(default=None, compare=False)  # its number in the whole history
    batch: bool = field(default=False, compare=False)  # of a dequeue that may bring several


@dataclass(frozen=True, slots=True)
class Form:
    """The terms of a tool."""

    fails: Outcome  # what a failed enqueue is
    drains: bool  # whether its histories show that a queue was read empty
    lacks: Mapping[str, str]  # what its histories have no field for, and why


@dataclass(slots=True)
class _Attempt:
    number: int
    sent_ns: int
    client: str
    settled_ns: int | None = None
    outcome: Outcome = Outcome.UNKNOWN


@dataclass(slots=True)
class _Message:
    producer: int
    sequence: int
    key: int
    attempts: list[_Attempt] = field(default_factory=list)


def history(name: str, rows: Sequence[Row], form: Form) -> History:
    """The rows as records of ours."""
    origin_ns = min((_began_ns(row) for row in rows), default=0)
    publishers, consumers = _numbers(rows)
    messages = _messages(rows, form, publishers, origin_ns)
    deliveries = list(_deliveries(rows))
    tables = {
        "attempts": _attempts(messages.values(), publishers),
        "settlements": _settlements(messages.values(), publishers),
        "deliveries": _arrivals(deliveries, messages, consumers, origin_ns),
    }
    ended_ns = [row.at_ns - origin_ns for row in rows if row.f == ENQUEUE]
    drained, doubt = _drained(rows) if form.drains else (False, "its history shows no drain")
    leadership_changes = tuple(
        LeadershipChange(row.at_ns - origin_ns, None)
        for row in rows
        if row.f == FAULT and row.ev == START
    )
    facts = Facts(
        run=name,
        scenario="",
        system="",
        layout="",
        client="",
        repeat=0,
        load_started_ns=0,
        load_ended_ns=max(ended_ns, default=0),
        deadline_ns=0,
        paced=False,
        confirms=True,
        clock_problem="",
        workers=_workers(rows, publishers, consumers),
        windows=(),
        queues=(QueueEnd(QUEUE, len(consumers) == 1, drained, doubt, ()),),
        competing_leaders=(),
        leadership_changes=leadership_changes,
    )
    consuming = len({row.client for row in rows if row.f == DEQUEUE})
    declared = {"consumers": consuming, "confirms": True}  # an enqueue's ok is the broker's
    doubts = (
        *((FAULTS_UNJUDGED,) if leadership_changes else ()),
        *((CUT,) if is_cut(rows) else ()),
    )
    values_sent = _values_sent(messages, deliveries)
    return History(
        facts, declared, {}, tables, doubts, values_sent, _hides(rows), hidden=form.lacks
    )


def _values_sent(
    messages: Mapping[str, _Message], deliveries: Iterable[tuple[Row, str, Via]]
) -> dict[tuple[int, int], str]:
    """Return the value of each message, and of each that was never sent: see `_arrivals`."""
    strays = dict.fromkeys(value for _, value, _ in deliveries if value not in messages)
    return {
        **{(one.producer, one.sequence): value for value, one in messages.items()},
        **{(1, len(messages) + place): value for place, value in enumerate(strays)},
    }


def _began_ns(row: Row) -> int:
    return row.at_ns - (row.latency_ns or 0)


def _numbers(rows: Iterable[Row]) -> tuple[dict[str, int], dict[str, int]]:
    """A worker for each client that publishes, and another one for each that consumes."""
    publishers = dict.fromkeys(row.client for row in rows if row.f == ENQUEUE)
    consumers = dict.fromkeys(row.client for row in rows if row.f in (DEQUEUE, DRAIN))
    numbered = {client: number for number, client in enumerate(publishers, 1)}
    return numbered, {client: len(numbered) + place for place, client in enumerate(consumers, 1)}


def _messages(
    rows: Iterable[Row], form: Form, publishers: Mapping[str, int], origin_ns: int
) -> dict[str, _Message]:
    """Every value that somebody tried to enqueue, with its attempts and their ends."""
    outcomes = {OK: Outcome.CONFIRMED, FAIL: form.fails, INFO: Outcome.UNKNOWN}
    messages: dict[str, _Message] = {}
    keys: dict[str | None, int] = {}
    waiting: defaultdict[tuple[str, str], list[_Attempt]] = defaultdict(list)
    for row in rows:
        if row.f != ENQUEUE:
            continue
        value = str(row.value)
        key = keys.setdefault(row.key, len(keys))
        producer = publishers[row.client]
        message = messages.setdefault(value, _Message(producer, len(messages), key))
        open_attempts = waiting[row.client, value]
        if row.ev == INVOKE or not open_attempts:
            # An end without its beginning: it was sent when its latency says, or by then.
            number = len(message.attempts) + 1
            attempt = _Attempt(number, _began_ns(row) - origin_ns, row.client)
            message.attempts.append(attempt)
            open_attempts.append(attempt)
        if row.ev != INVOKE:
            attempt = open_attempts.pop(0)
            outcome = Outcome.UNKNOWN if row.unclear else outcomes[row.ev]
            attempt.settled_ns, attempt.outcome = row.at_ns - origin_ns, outcome
    return messages


def _deliveries(rows: Iterable[Row]) -> Iterator[tuple[Row, str, Via]]:
    for row in rows:
        if row.ev == OK and row.f == DEQUEUE and row.value is not None:
            yield row, str(row.value), Via.LOAD
        if row.ev != INVOKE and row.f == DRAIN:  # also a part of one that did not end well
            for value in row.value or ():
                yield row, value, Via.DRAIN


def _arrivals(
    deliveries: Iterable[tuple[Row, str, Via]],
    messages: Mapping[str, _Message],
    consumers: Mapping[str, int],
    origin_ns: int,
) -> dict[str, list[Cell]]:
    columns: defaultdict[str, list[Cell]] = defaultdict(list)
    likely = {value: _likely(message) for value, message in messages.items()}
    strays: dict[str, int] = {}
    copies = Counter[tuple[str, int]]()
    for tag, (row, value, via) in enumerate(deliveries, 1):
        message = messages.get(value)
        producer, sequence, attempt = (1, 0, 1)
        at_ns = row.at_ns - origin_ns
        if message is None:
            # It was never sent: a number that no message has.
            sequence = len(messages) + strays.setdefault(value, len(strays))
        else:
            producer, sequence = message.producer, message.sequence
            sent = [one for one in likely[value] if one.sent_ns <= at_ns] or likely[value]
            attempt = min((one.number for one in sent), key=lambda it: copies[value, it])
            copies[value, attempt] += 1
        consumer = consumers[row.client]
        cells = (consumer, producer, sequence, attempt, at_ns, int(via), consumer, tag)
        for name, cell in zip(_DELIVERY_COLUMNS, cells, strict=True):
            columns[name].append(cell)
    rows = len(columns["tag"])
    same: dict[str, Cell] = {
        "queue": QUEUE,
        "broker": None,
        "offset": NO_OFFSET,
        "redelivered": int(Redelivered.NOT_REPORTED),
        "header_ok": 1,
        "payload_ok": 1,
        "run_ok": 1,
    }
    own_columns = {name: columns[name] for name in _DELIVERY_COLUMNS}
    return {**own_columns, **{name: [cell] * rows for name, cell in same.items()}}


_DELIVERY_COLUMNS = (
    "consumer",
    "producer",
    "sequence",
    "attempt",
    "received_ns",
    "via",
    "connection",
    "tag",
)


def _likely(message: _Message) -> list[_Attempt]:
    """The attempts that may have come, the likeliest first."""
    order = (Outcome.CONFIRMED, Outcome.UNKNOWN, Outcome.REFUSED)
    likely = sorted(message.attempts, key=lambda one: order.index(one.outcome))
    possible = [one for one in likely if one.outcome is not Outcome.REFUSED]
    return possible or likely


def _attempts(
    messages: Iterable[_Message], publishers: Mapping[str, int]
) -> dict[str, list[Cell]]:
    listed = [(message, one) for message in messages for one in message.attempts]
    return {
        "producer": [message.producer for message, _ in listed],
        "sequence": [message.sequence for message, _ in listed],
        "attempt": [one.number for _, one in listed],
        "queue": [QUEUE] * len(listed),
        "key": [message.key for message, _ in listed],
        "intended_ns": [NO_INTENT] * len(listed),
        "sent_ns": [one.sent_ns for _, one in listed],
        # Another client's attempt of the same message went another way.
        "connection": [publishers[one.client] for _, one in listed],
    }


def _settlements(
    messages: Iterable[_Message], publishers: Mapping[str, int]
) -> dict[str, list[Cell]]:
    listed = [
        (message, one)
        for message in messages
        for one in message.attempts
        if one.settled_ns is not None
    ]
    return {
        "producer": [message.producer for message, _ in listed],
        "sequence": [message.sequence for message, _ in listed],
        "attempt": [one.number for _, one in listed],
        "settled_ns": [one.settled_ns for _, one in listed],
        "outcome": [int(one.outcome) for _, one in listed],
        "strength": [int(Strength.NONE)] * len(listed),
        "connection": [publishers[one.client] for _, one in listed],
    }


def _workers(
    rows: Sequence[Row], publishers: Mapping[str, int], consumers: Mapping[str, int]
) -> tuple[Worker, ...]:
    """Return the workers. A publisher writes an attempt before it tries; a consumer writes a
    delivery after it."""
    unclear: set[str] = set()
    waiting: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.f not in (DEQUEUE, DRAIN):
            continue
        waiting[row.client, row.f] += 1 if row.ev == INVOKE else -1
        if row.ev != INVOKE and waiting[row.client, row.f] < 0:
            waiting[row.client, row.f] = 0  # an end without its beginning
        if row.ev == INFO or row.unclear:
            unclear.add(row.client)
    unclear |= {client for (client, _), many in waiting.items() if many}
    whole = not is_cut(rows)
    return (
        *(Worker(number, "publisher", whole) for number in publishers.values()),
        *(
            Worker(n, "consumer", whole and client not in unclear)
            for client, n in consumers.items()
        ),
    )


def _hides(rows: Sequence[Row]) -> int | None:
    """Return how many messages at most the dequeues of unknown end can have taken; None: there is
    no bound, as a drain, or a dequeue that brings batches, may take any number."""
    received = [row for row in rows if row.f == DEQUEUE and row.ev == OK]
    if is_cut(rows) or not received or any(row.batch for row in rows):
        return None
    begun = Counter[str]()
    for row in rows:
        if row.f in (DEQUEUE, DRAIN):
            known = row.ev in (OK, FAIL) and not row.unclear
            begun[row.f] += (row.ev == INVOKE) - known
    return begun[DEQUEUE] if not begun[DRAIN] and begun[DEQUEUE] >= 0 else None


def is_cut(rows: Sequence[Row]) -> bool:
    """Return whether the file lacks operations: the history's numbers of operations have gaps, or
    a client's first operation of a kind is an end, though such operations have beginnings."""
    before = 0  # the first one is 0, or 1
    for row in rows:
        if row.index is None:
            break
        if not before <= row.index <= before + 1:
            return True
        before = row.index
    begun = {row.f for row in rows if row.ev == INVOKE}
    first: dict[tuple[str, str], str] = {}
    for row in rows:
        first.setdefault((row.client, row.f), row.ev)
    return any(ev != INVOKE and f in begun for (_, f), ev in first.items())


def _drained(rows: Sequence[Row]) -> tuple[bool, str]:
    """Return whether a drain that ended ok began after everything else had ended; if not, why
    not."""
    others = [place for place, row in enumerate(rows) if row.f in (ENQUEUE, DEQUEUE)]
    last = max(others, default=-1)
    begun: dict[str, int] = {}
    ended = False
    for place, row in enumerate(rows):
        if row.f != DRAIN:
            continue
        if row.ev == INVOKE:
            begun[row.client] = place
            continue
        began = begun.pop(row.client, place)
        ended = ended or (row.ev == OK and began > last)
    if ended and not begun:
        return True, ""
    if not any(row.f == DRAIN for row in rows):
        return False, "the history shows no drain"
    return False, "no drain ended well after everything else, or one of them did not end"
