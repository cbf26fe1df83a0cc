"""The book of one publisher's publishes: what is out, what became of it, what is to be retried.

1. A tag belongs to the present connection; when that is lost, whatever is out is unknown.
2. Only an ack confirms. A return followed by its ack is `returned`; every nack is unknown.
3. Under `until_confirmed` whatever is settled without a confirm is retried as a new attempt of the
   same sequence: at once after a lost connection, else after RETRY_PAUSE_NS, so that a queue that
   refuses everything is not flooded.
   A publish that is withdrawn on purpose (a transaction to be rolled back) is done when its
   attempt was refused.
4. A publish has at most one attempt out or waiting, so each is confirmed at most once.
5. Pure: times are handed in, in nanoseconds of one clock.
"""

import heapq
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import NamedTuple

from spark_analysis.schema.words import NO_INTENT, Outcome

RETRY_PAUSE_NS = 100_000_000
_CONFIRMED = Outcome.CONFIRMED


# Plain tuples, because one of each is made for every message at rate max.
Attempt = tuple[int, int, int, int]  # sequence, attempt, sent_ns, the publish's deadline_ns
Settlement = tuple[int, int, Outcome, str]  # sequence, attempt, outcome, the broker's own words


class Retry(NamedTuple):
    """A publish that waits for its next attempt; ordered by the time it may go."""

    due_ns: int
    sequence: int
    attempt: int
    deadline_ns: int


class Book:
    """All unfinished publishes of one publisher, and counts of the others.

    `withdrawn`: whether the publish of this sequence is to be refused. `in_time` gets the deadline
    of each publish that was confirmed by then.
    """

    def __init__(
        self,
        retrying: bool,
        withdrawn: Callable[[int], bool] = lambda _sequence: False,
        in_time: Callable[[int], None] = lambda _deadline_ns: None,
    ) -> None:
        self.sent = 0
        self.again = 0  # of `sent`: attempts after the first
        self.never_sent = 0
        self.confirmed = 0
        self.unknown = 0
        self._retrying = retrying
        self._withdrawn = withdrawn
        self._in_time = in_time
        self._missed = 0
        self._out: dict[int, Attempt] = {}
        self._tag = 0  # of the latest attempt on this connection
        self._oldest_tag = 1  # nothing below it is out
        self._returned: dict[tuple[int, int], str] = {}
        self._retries: list[Retry] = []

    @property
    def tag(self) -> int:
        """Of the latest attempt on this connection."""
        return self._tag

    @property
    def out(self) -> int:
        """Attempts without settlement."""
        return len(self._out)

    @property
    def unsettled(self) -> int:
        """Publishes that are out or wait for a retry."""
        return len(self._out) + len(self._retries)

    def missed(self, now_ns: int) -> int:
        """Publishes whose deadline has passed without a confirm."""
        waiting = [deadline_ns for *_, deadline_ns in self._out.values()]
        waiting += [retry.deadline_ns for retry in self._retries]
        return self._missed + sum(NO_INTENT < deadline_ns < now_ns for deadline_ns in waiting)

    def connected(self) -> None:
        """A new connection: its tags count from 1."""
        assert not self._out, "the lost connection was not settled"
        self._tag = 0
        self._oldest_tag = 1

    def send(self, sequence: int, number: int, now_ns: int, deadline_ns: int) -> int:
        """Note an attempt that is being sent; return its tag."""
        self._tag += 1
        self._out[self._tag] = (sequence, number, now_ns, deadline_ns)
        self.sent += 1
        self.again += number > 1
        return self._tag

    def send_all(self, sequences: range, now_ns: int) -> range:
        """Note the first attempts of publishes without a deadline; return their tags."""
        tags = range(self._tag + 1, self._tag + 1 + len(sequences))
        attempts = zip(sequences, repeat(1), repeat(now_ns), repeat(NO_INTENT), strict=False)
        self._out.update(zip(tags, attempts, strict=False))
        self._tag += len(tags)
        self.sent += len(tags)
        return tags

    def send_unconfirmed(self) -> int:
        """Count an attempt without a confirm; return its tag."""
        self._tag += 1
        self.sent += 1
        return self._tag

    def not_sent(self) -> None:
        """A publish's deadline passed before its first attempt."""
        self.never_sent += 1
        self._missed += 1

    def returned(self, sequence: int, attempt: int, raw: str) -> None:
        """The broker gave this attempt's body back; the ack that follows settles it."""
        self._returned[sequence, attempt] = raw

    def acked(self, tag: int, multiple: bool, now_ns: int) -> list[Settlement]:
        return [self._ack(attempt, now_ns) for attempt in self._take(tag, multiple)]

    def nacked(self, tag: int, multiple: bool, now_ns: int) -> list[Settlement]:
        due_ns = now_ns + RETRY_PAUSE_NS
        attempts = self._take(tag, multiple)
        return [self._fail(attempt, Outcome.UNKNOWN, "nack", due_ns) for attempt in attempts]

    def answered(self, tag: int, outcome: Outcome, raw: str, now_ns: int) -> list[Settlement]:
        """One send's answer as the library gave it; nothing where it was settled before."""
        return [self._answer(attempt, outcome, raw, now_ns) for attempt in self._take(tag, False)]

    def all_confirmed(
        self, tags: Sequence[int], times_ns: Sequence[int]
    ) -> tuple[list[Attempt], list[int]]:
        """The attempts that are settled by this, and when; none that was settled before."""
        found = [self._out.pop(tag, None) for tag in tags]
        if None in found:
            times_ns = [at for at, one in zip(times_ns, found, strict=True) if one is not None]
        attempts = [one for one in found if one is not None]
        self.confirmed += len(attempts)
        for (*_, deadline_ns), at_ns in zip(attempts, times_ns, strict=True):
            if deadline_ns != NO_INTENT:
                self._meet(deadline_ns, at_ns)
        return attempts, list(times_ns)

    def lost(self, raw: str, now_ns: int) -> list[Settlement]:
        """The connection is gone, or taken for dead: what is out will never be known."""
        attempts = self._take(self._tag, True)
        self._returned.clear()
        return [self._fail(attempt, Outcome.UNKNOWN, raw, now_ns) for attempt in attempts]

    def oldest_ns(self) -> int | None:
        """When the oldest attempt that is out was sent."""
        if not self._out:
            return None
        while self._oldest_tag not in self._out:
            self._oldest_tag += 1
        _, _, sent_ns, _ = self._out[self._oldest_tag]
        return sent_ns

    def retry_ns(self) -> int | None:
        """When the next retry may go; None if none waits."""
        return self._retries[0].due_ns if self._retries else None

    def take_retry(self) -> Retry:
        """The next retry, to be sent now."""
        return heapq.heappop(self._retries)

    def _take(self, tag: int, multiple: bool) -> list[Attempt]:
        # A tag that is not out was settled before: a late copy says nothing new.
        if not multiple:
            attempt = self._out.pop(tag, None)
            return [] if attempt is None else [attempt]
        last = min(tag, self._tag) if tag else self._tag  # tag 0 means all there are
        tags = range(self._oldest_tag, last + 1)
        self._oldest_tag = max(self._oldest_tag, last + 1)
        return [self._out.pop(each) for each in tags if each in self._out]

    def _ack(self, attempt: Attempt, now_ns: int) -> Settlement:
        sequence, number, _, deadline_ns = attempt
        if self._returned:
            raw = self._returned.pop((sequence, number), None)
            if raw is not None:
                return self._fail(attempt, Outcome.RETURNED, raw, now_ns + RETRY_PAUSE_NS)
        self.confirmed += 1
        if deadline_ns != NO_INTENT:
            self._meet(deadline_ns, now_ns)
        return (sequence, number, _CONFIRMED, "ack")

    def _answer(self, attempt: Attempt, outcome: Outcome, raw: str, now_ns: int) -> Settlement:
        sequence, number, _, deadline_ns = attempt
        if outcome is Outcome.UNCONFIRMED:
            return (sequence, number, outcome, raw)
        if outcome is not Outcome.CONFIRMED:
            return self._fail(attempt, outcome, raw, now_ns + RETRY_PAUSE_NS)
        self.confirmed += 1
        if deadline_ns != NO_INTENT:
            self._meet(deadline_ns, now_ns)
        return (sequence, number, outcome, raw)

    def _meet(self, deadline_ns: int, now_ns: int) -> None:
        if deadline_ns < now_ns:
            self._missed += 1
        else:
            self._in_time(deadline_ns)

    def _fail(self, attempt: Attempt, outcome: Outcome, raw: str, due_ns: int) -> Settlement:
        sequence, number, _, deadline_ns = attempt
        self._returned.pop((sequence, number), None)
        self.unknown += outcome is Outcome.UNKNOWN
        if outcome is Outcome.REFUSED and self._withdrawn(sequence):
            return (sequence, number, outcome, raw)
        if self._retrying:
            heapq.heappush(self._retries, Retry(due_ns, sequence, number + 1, deadline_ns))
        elif deadline_ns != NO_INTENT:
            self._missed += 1
        return (sequence, number, outcome, raw)
