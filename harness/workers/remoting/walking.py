"""A broker's whole log read record by record, from its first position to its last.

1. For a broker that gives nothing by queue: a slave of RocketMQ 5 refuses every pull while its
   slaveReadEnable is off, as it is by default. No broker refuses to show a position.
2. Where the log begins and ends is asked first; what is written after that is not read.
3. The rest of a file that no record fits into is a blank, and is stepped over.
4. Where a record cannot be read the walk ends in a doubt: the next one's position is in it.
"""

from dataclasses import dataclass

from harness.workers.remoting import answers, records, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.records import StoredMessage
from harness.workers.remoting.requests import Request


@dataclass(slots=True)
class Walk:
    """`request` is what to ask next, None when all is read or `doubt` says what is not."""

    first: int | None = None  # position of the log's first record; None: not told yet
    end: int = 0  # one past its last octet
    at: int = 0
    messages: int = 0
    doubt: str = ""

    @property
    def request(self) -> Request | None:
        if self.doubt:
            return None
        if self.first is None:
            return requests.runtime_info()
        return requests.view(self.at) if self.at < self.end else None

    def hear(self, answer: Command) -> StoredMessage | None:
        """The message in an answer to `request`, if it was one."""
        request = self.request
        assert request is not None, self
        try:
            if self.first is None:
                self._hear_bounds(request, answer)
                return None
            return self._hear_record(request, answer)
        except (RequestRefused, WireError) as error:
            self.doubt = f"the log was read from {self.first} to {self.at} of {self.end}: {error}"
            return None

    def _hear_bounds(self, request: Request, answer: Command) -> None:
        log = answers.log(request, answer)
        self.first, self.end = log
        self.at = self.first

    def _hear_record(self, request: Request, answer: Command) -> StoredMessage | None:
        answers.taken(request, answer)
        blank_bytes = records.blank(answer.body)
        if blank_bytes:
            self.at += blank_bytes
            return None
        message = records.read(answer.body)
        if message.position != self.at:
            raise WireError(f"{request.words}: the record there says {message.position}")
        self.at += message.record_bytes
        self.messages += 1
        return message
