"""One queue read from its start to its end, answer by answer.

1. First its least and its greatest offset are asked; what is written after that is not read, so
   that a queue which grows has an end, too.
2. Offsets only grow. Those that hold nothing (a file that is gone) are counted as skipped.
3. A queue that ends before its greatest offset, or stands still, is doubted: what is not read may
   be there.
"""

from dataclasses import dataclass

from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.records import StoredMessage
from harness.workers.remoting.requests import Request, TopicQueue

STANDSTILLS_MAX = 3  # a broker may ask us to try again while it removes a file


@dataclass(slots=True)
class Reading:
    """`request` is what to ask next, None when all is read or `doubt` says what is not."""

    queue: TopicQueue
    first: int | None = None  # its least offset; None: not told yet
    end: int | None = None  # one past its greatest
    at: int = 0  # the next to read
    messages: int = 0
    skipped: int = 0
    doubt: str = ""
    _standstills: int = 0

    @property
    def request(self) -> Request | None:
        if self.doubt:
            return None
        if self.first is None:
            return requests.min_offset(self.queue)
        if self.end is None:
            return requests.max_offset(self.queue)
        return requests.pull(self.queue, self.at) if self.at < self.end else None

    def hear(self, answer: Command) -> tuple[StoredMessage, ...]:
        """The messages in an answer to `request`; what it says of the rest is noted."""
        request = self.request
        assert request is not None, self
        try:
            return self._hear(request, answer)
        except (RequestRefused, WireError) as error:
            self.doubt = str(error)
            return ()

    def _hear(self, request: Request, answer: Command) -> tuple[StoredMessage, ...]:
        if self.first is None:
            self.first = self.at = max(0, answers.offset(request, answer))
            return ()
        if self.end is None:
            self.end = answers.offset(request, answer)
            return ()
        pulled = answers.pulled(request, answer)
        found = tuple(one for one in pulled.messages if self.at <= one.offset < self.end)
        stray = next((one for one in found if (one.topic, one.queue) != _name(self.queue)), None)
        if stray is not None:
            raise WireError(f"{request.words}: one of {stray.topic}/{stray.queue} was among them")
        self._move(found, pulled, self.end)
        return found

    def _move(self, found: tuple[StoredMessage, ...], pulled: answers.Pulled, end: int) -> None:
        goal = max(self.at, min(pulled.next_offset, end))
        self.messages += len(found)
        self.skipped += goal - self.at - len(found)
        self._standstills = 0 if goal > self.at else self._standstills + 1
        if goal < end and not pulled.more:
            self.doubt = f"it ends at {goal}, though its max offset is {end}"
        elif self._standstills > STANDSTILLS_MAX:
            self.doubt = f"the broker gives nothing from {self.at} on, of {end}"
        self.at = goal


def _name(queue: TopicQueue) -> tuple[str, int]:
    return queue.topic, queue.number
