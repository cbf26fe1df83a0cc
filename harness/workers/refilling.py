"""A load at maximum rate that its link sends by itself, so that no answer waits for Python.

1. The link writes the record of each attempt itself, before its message leaves (Refill in
   clients/port.py). What it has sent is entered in the book here, before its answers are.
2. It halts where a send is not plainly confirmed, and whenever the load stops. From then on the
   publisher sends; retries are its own matter.
3. It begins at a tick, when a whole tick has passed without such an answer and nothing waits for
   its retry.
4. A record that cannot be written halts the link, and ends the worker at the next tick.
"""

from collections.abc import Callable, Sequence

from harness.workers.clients.port import PublishingLink, Refill, Refilled, RefillingLink
from harness.workers.core.pacing import Pacing
from harness.workers.core.publishes import Book
from harness.workers.protocol import WorkerConfig
from harness.workers.recorder import Recorder
from spark_analysis.schema.body import Identity, encode


class Refilling:
    """Whether the link of one publisher sends by itself, and what it has sent so."""

    def __init__(
        self, config: WorkerConfig, recorder: Recorder, book: Book, pacing: Pacing
    ) -> None:
        self._config = config
        self._recorder = recorder
        self._book = book
        self._pacing = pacing
        self._link: RefillingLink | None = None
        self._ahead = 0  # sends in the book that the link did not report yet
        self._quiet = False  # since the last tick

    @property
    def active(self) -> bool:
        return self._link is not None

    def tick(self, link: PublishingLink | None, connection: int) -> None:
        """Ten times a second: begin, or enter what was sent since the last tick."""
        if self._link is not None:
            self._enter(self._link.refilled)
        elif self._quiet and isinstance(link, RefillingLink):
            self._begin(link, connection)
        self._quiet = True

    def sent_up_to(self, tags: Sequence[int]) -> None:
        """Answers to these tags are here: what was sent up to them belongs in the book."""
        if self._link is not None and (count := max(tags) - self._book.tag) > 0:
            self._add(count)
            self._ahead += count

    def end(self) -> None:
        """Nothing is sent any more but by the publisher itself."""
        self._quiet = False
        if self._link is not None:
            link, self._link = self._link, None
            self._enter(link.halt)

    def _begin(self, link: RefillingLink, connection: int) -> None:
        book, recorder, config = self._book, self._recorder, self._config
        now_ns = recorder.now_ns()
        next_ns = self._pacing.next_ns()
        if next_ns is None or next_ns > now_ns or book.out < book.unsettled or not book.confirmed:
            return
        sequence, tag = self._pacing.next, book.tag + 1
        first = Identity(config.run_number, config.number, sequence, 1, 0, now_ns)
        load = Refill(
            log=recorder.lend_attempts(),
            record=recorder.first_attempt(sequence, connection, tag),
            body=encode(first, config.body_bytes),
            origin_ns=config.origin_ns,
            keys=config.keys,
            window=config.confirm_window,
            sequence=sequence,
            tag=tag,
            out=book.out,
        )
        if link.refill(load):
            self._link = link

    def _enter(self, report: Callable[[], Refilled]) -> None:
        try:
            count, crc32 = report()
        except OSError as failure:
            self._recorder.fail(failure)
        self._recorder.attempts_written(count, crc32)
        self._add(count - self._ahead)
        self._ahead = 0

    def _add(self, count: int) -> None:
        now_ns = self._recorder.now_ns()  # no publish of such a load has a deadline
        self._book.send_all(self._pacing.take_range(now_ns, count), now_ns)
