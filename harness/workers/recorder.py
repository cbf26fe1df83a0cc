"""A worker's records: one method a raw table, over the log of spark_analysis.schema.

1. Times are run time: this worker's clock minus the run's origin.
2. Text is numbered once; the columns that never change are fixed when the recorder is made.
3. Nothing is on record before `flush()`: code that sends or acknowledges flushes first.
4. A log that cannot be written ends the process in that very call (`die`), so nothing is sent that
   is not on record. A link that writes attempts itself (refilling.py) sends nothing more by then.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import count, repeat
from pathlib import Path
from typing import NoReturn

from harness.workers.core.publishes import Attempt, Settlement
from harness.workers.protocol import WorkerConfig
from spark_analysis.files.log import LogFull, LogWriter
from spark_analysis.schema import tables
from spark_analysis.schema.body import Body
from spark_analysis.schema.words import NEVER_SENT, NO_INTENT, NO_OFFSET, Outcome

Die = Callable[[str], NoReturn]
OnEvent = Callable[[str, str], None]  # a client event's kind and detail

_ATTEMPTS = tables.ATTEMPTS
_SETTLEMENTS = tables.SETTLEMENTS
_CONFIRMED = Outcome.CONFIRMED


class Recorder:
    """The log of one worker.

    `die` gets the reason why the log cannot go on, and never returns. `on_event` gets each client
    event when it is written.
    """

    def __init__(
        self, config: WorkerConfig, die: Die, on_event: OnEvent = lambda _kind, _detail: None
    ) -> None:
        self._die = die
        self._on_event = on_event
        self._origin_ns = config.origin_ns
        self._number = config.number
        self._run_number = config.run_number
        self._body_bytes = config.body_bytes
        self._strength = config.strength
        self._levels = frozenset(config.levels)
        self._ways = frozenset(config.ways)
        try:
            self._log = LogWriter(Path(config.log), config.run)
        except OSError as failure:
            die(f"the log cannot be opened: {failure}")
        self._append = self._log.append_numbered
        self._text = self._log.text
        self._queues = tuple(self._text(word) for _, word in config.queues)
        self._queue = self._queues[0]  # of deliveries and events
        self._special = False  # terms were appended
        self._connections = count(1)  # shared by all who write to this log

    def of_queue(self, word: str) -> "Recorder":
        """Return a recorder of the same log for another queue of the worker."""
        other = copy(self)
        other._queue = self._text(word)
        return other

    def next_connection(self) -> int:
        """Return the number of the worker's next connection, from 1."""
        return next(self._connections)

    def now_ns(self) -> int:
        """Run time."""
        return time.monotonic_ns() - self._origin_ns

    def clock_s(self, run_ns: int) -> float:
        """The event loop's time of a run time."""
        return (run_ns + self._origin_ns) / 1e9

    def run_ns(self, clock_ns: int) -> int:
        return clock_ns - self._origin_ns

    def attempt(
        self,
        sequence: int,
        attempt: int,
        key: int,
        intended_ns: int,
        sent_ns: int,
        connection: int,
        tag: int,
        place: int = 0,
    ) -> None:
        """`place`: of the queue in WorkerConfig.queues."""
        self._append(
            _ATTEMPTS,
            self._number,
            sequence,
            attempt,
            self._queues[place],
            key,
            intended_ns,
            sent_ns,
            connection,
            tag,
            self._body_bytes,
        )

    def first_attempts(
        self, sequences: range, keys: int, sent_ns: int, connection: int, tags: range
    ) -> None:
        """First attempts of publishes without an intended time, sent together to the first queue;
        a sequence's key is the sequence modulo `keys`."""
        self._log.append_columns(
            _ATTEMPTS,
            len(sequences),
            repeat(self._number),
            sequences,
            repeat(1),
            repeat(self._queues[0]),
            (each % keys for each in sequences),
            repeat(NO_INTENT),
            repeat(sent_ns),
            repeat(connection),
            tags,
            repeat(self._body_bytes),
        )

    def lend_attempts(self) -> Path:
        """The file of attempts, which are written by the link itself from now on."""
        try:
            return self._log.lend(_ATTEMPTS)
        except LogFull as failure:
            self.fail(failure)

    def first_attempt(self, sequence: int, connection: int, tag: int) -> bytes:
        """The record of one of those; its key and its time of sending are 0."""
        row = (self._number, sequence, 1, self._queues[0], 0, NO_INTENT, 0, connection, tag)
        return _ATTEMPTS.record.pack(*row, self._body_bytes)

    def attempts_written(self, count: int, crc32: int) -> None:
        """By the link itself."""
        self._log.written_by_another(_ATTEMPTS, count, crc32)

    def not_sent(self, sequence: int, key: int, intended_ns: int, place: int = 0) -> None:
        """The deadline passed before this publish's first attempt could go out."""
        self.attempt(sequence, 1, key, intended_ns, NEVER_SENT, 0, 0, place)

    def terms(self, sequence: int, attempt: int, due_ns: int, fate: int) -> None:
        """Of an attempt that is delayed, or part of a transaction; on record with its attempt."""
        self._append(tables.TERMS, self._number, sequence, attempt, due_ns, fate)
        self._special = True

    def settlements(
        self,
        settlements: Iterable[Settlement],
        settled_ns: int,
        connection: int,
        confirm: int | None = None,
    ) -> None:
        """What one frame, one answer or one loss settled. `confirm`: the level of a confirm,
        where it is not the layout's. A level that its system does not declare ends the worker."""
        declared = self._strength if confirm is None else confirm
        if confirm is not None and confirm not in self._levels:
            self._die(f"a confirm of level {confirm}, which its system does not declare")
        append, text, table, producer = self._append, self._text, _SETTLEMENTS, self._number
        for sequence, attempt, outcome, raw in settlements:
            strength = declared if outcome is _CONFIRMED else 0
            words = text(raw)
            append(
                table,
                producer,
                sequence,
                attempt,
                settled_ns,
                outcome,
                strength,
                words,
                connection,
            )

    def confirms(
        self, attempts: Sequence[Attempt], times_ns: Iterable[int], connection: int, raw: str
    ) -> None:
        """Settlements of one kind: each attempt was confirmed with the layout's confirm level."""
        self._log.append_columns(
            _SETTLEMENTS,
            len(attempts),
            repeat(self._number),
            (sequence for sequence, *_ in attempts),
            (number for _, number, *_ in attempts),
            times_ns,
            repeat(_CONFIRMED),
            repeat(self._strength),
            repeat(self._text(raw)),
            repeat(connection),
        )

    def delivery(
        self,
        body: Body,
        received_ns: int,
        broker: int,
        redelivered: int,
        via: int,
        connection: int,
        tag: int,
        offset: int = NO_OFFSET,
    ) -> None:
        """One delivery; `broker` is the number of its text, `via` one of `words.Via` or what
        `own_way` returns."""
        identity = body.identity
        if identity is None:
            who, header_ok, run_ok = (0, 0, 0, 0, 0), 0, 0
        else:
            who = (
                identity.producer,
                identity.sequence,
                identity.attempt,
                identity.key,
                identity.sent_ns,
            )
            header_ok, run_ok = 1, int(identity.run == self._run_number)
        producer, sequence, attempt, key, sent_ns = who
        self._append(
            tables.DELIVERIES,
            self._number,
            producer,
            sequence,
            attempt,
            key,
            received_ns,
            sent_ns,
            self._queue,
            broker,
            offset,
            redelivered,
            header_ok,
            body.payload_ok,
            run_ok,
            via,
            connection,
            tag,
        )

    def own_way(self, number: int) -> int:
        """Return the number of one of the system's own ways. One that its system does not declare
        ends the worker."""
        if number not in self._ways:
            self._die(f"a delivery by way {number}, which its system does not declare")
        return number

    def acknowledgement(
        self, connection: int, first_tag: int, last_tag: int, written_ns: int
    ) -> None:
        table = tables.ACKNOWLEDGEMENTS
        self._append(table, self._number, connection, first_tag, last_tag, written_ns)

    def event(self, kind: str, connection: int, detail: str = "") -> None:
        """A client event, now."""
        text = self._text(detail) if detail else -1
        table, now_ns = tables.CLIENT_EVENTS, self.now_ns()
        self._append(table, self._number, now_ns, self._text(kind), connection, self._queue, text)
        self._on_event(kind, detail)

    def probe(
        self, kind: str, target: str, started_ns: int, ended_ns: int, ok: bool, detail: str
    ) -> None:
        """Record a probe: the query from outside, and the answer."""
        words = self._text(kind), self._text(target)
        table, text = tables.PROBES, self._text(detail)
        self._append(table, self._number, *words, started_ns, ended_ns, int(ok), text)

    def lateness(self, at_ns: int, late_ns: int) -> None:
        self._append(tables.LATENESS, self._number, at_ns, late_ns)

    def text(self, text: str | None) -> int:
        """The number of a text, for columns that hold it often."""
        return self._text(text)

    def flush_attempts(self) -> None:
        """What must be on record before anything is sent, and no more: a write less a message."""
        try:
            if self._special:
                self._log.flush(tables.TERMS)
                self._special = False
            self._log.flush(_ATTEMPTS)
        except LogFull as failure:
            self.fail(failure)

    def flush(self) -> None:
        try:
            self._log.flush()
        except LogFull as failure:
            self.fail(failure)

    def fail(self, failure: Exception) -> NoReturn:
        """The log cannot go on."""
        self._die(f"the log cannot be written: {failure}")

    def close(self) -> None:
        """The log is complete."""
        try:
            self._log.close()
        except LogFull as failure:
            self._die(f"the log cannot be closed: {failure}")
