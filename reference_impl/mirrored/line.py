"""The ready messages of one priority, in order: RabbitMQ's Q1, Q2, delta, Q3 and Q4 (seeds/003;
docs/behaviour/rabbitmq.md 1, items 57 to 68). Here are numbers alone; backing.py has the messages.

state    the message is on         its number is in      it lies in
alpha    memory (and disk, kept)   memory                Q1, Q4
beta     disk                      memory                Q2, Q3
gamma    disk                      memory and disk       Q2, Q3: all of ours, once written
delta    disk                      disk                  delta

    publish -> Q1 -> Q2 -> delta -> Q3 -> Q4 -> take

1. What comes goes to Q4 where Q3 is empty, else to Q1. What is taken is the head of Q4, or of Q3
   where there is none: the queue is empty when both are.
2. When the last one of Q3 is taken, the next part of delta comes into it; after delta's last part
   all of Q2, too. Where delta is empty, Q1 becomes Q4.
3. When memory is short, alphas become betas: those of Q1 from its head, to Q2, or to Q3 where
   delta is empty; then those of Q4 from its tail, to Q3's head. Betas become delta: those of Q3
   from its tail, but never those of the segment that its head is in; then those of Q2.
4. Always: Q1 is empty where Q3 is; Q2 where delta is; delta where Q3 is.
5. What is requeued goes to its place: it stands before all that has a higher number.

Differs from RabbitMQ: what is requeued stands apart, not in Q3 and Q4; and of a part of delta
the messages come along, for there they are kept in the index, as those of less than 4,096 octets
are there.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import chain


class Delta:
    """Numbers that are not in memory: so many of those from `start` up to `end`, the latter not
    included."""

    __slots__ = ("count", "end", "start")

    def __init__(self) -> None:
        self.start = self.end = self.count = 0

    def put_first(self, number: int) -> None:
        if not self.count:
            self.end = number + 1
        self.start = number
        self.count += 1

    def put_last(self, number: int) -> None:
        if not self.count:
            self.start = number
        self.end = number + 1
        self.count += 1

    def taken(self, count: int, upto: int) -> None:
        """Note the removal of so many from its head, and all below `upto`."""
        self.count -= count
        self.start = upto


# From delta's start on: numbers, and where the rest of delta starts. Some are found always.
Load = Callable[["Line"], tuple[list[int], int]]


class Line:
    def __init__(self, load: Load, segment: int) -> None:
        self.q1: deque[int] = deque()
        self.q2: deque[int] = deque()
        self.q3: deque[int] = deque()
        self.q4: deque[int] = deque()
        self.delta = Delta()
        self.requeued: list[int] = []  # a heap
        self._load = load
        self._segment = segment

    def __len__(self) -> int:
        in_memory = len(self.q1) + len(self.q2) + len(self.q3) + len(self.q4)
        return in_memory + self.delta.count + len(self.requeued)

    @property
    def alphas(self) -> int:
        return len(self.q1) + len(self.q4)

    @property
    def betas(self) -> int:
        return len(self.q2) + len(self.q3)

    @property
    def head(self) -> int:
        """Something is ready."""
        if not self.requeued:
            return self.q4[0] if self.q4 else self.q3[0]
        first = self.q4 or self.q3
        return self.requeued[0] if not first else min(self.requeued[0], first[0])

    def numbers(self) -> chain[int]:
        """Return the numbers that are in memory."""
        return chain(self.requeued, self.q4, self.q3, self.q2, self.q1)

    def publish(self, number: int) -> None:
        (self.q1 if self.q3 else self.q4).append(number)

    def requeue(self, number: int) -> None:
        heappush(self.requeued, number)

    def take(self) -> int:
        """The head."""
        first = self.q4 or self.q3
        if self.requeued and (not first or self.requeued[0] < first[0]):
            return heappop(self.requeued)
        number = first.popleft()
        if not self.q3 and (self.q1 or self.delta.count):
            self.refill()
        return number

    def refill(self) -> None:
        """Q3 is empty."""
        while self.delta.count and not self.q3:
            numbers, upto = self._load(self)
            self.q3.extend(numbers)
            self.delta.taken(len(numbers), upto)
        if not self.delta.count:
            self.q3 += self.q2
            self.q2.clear()
        if not self.q3:
            self.q4 += self.q1
            self.q1.clear()

    def become_betas(self, most: int) -> list[int]:
        """At most so many alphas: whose messages are to leave memory."""
        numbers: list[int] = []
        while self.q1 and len(numbers) < most:
            number = self.q1.popleft()
            (self.q2 if self.delta.count else self.q3).append(number)
            numbers.append(number)
        while self.q4 and len(numbers) < most:
            number = self.q4.pop()
            self.q3.appendleft(number)
            numbers.append(number)
        return numbers

    def become_delta(self, most: int) -> list[int]:
        """At most so many betas: which are to leave memory altogether."""
        numbers: list[int] = []
        stays = (self.q3[0] // self._segment + 1) * self._segment if self.q3 else 0
        while self.q3 and self.q3[-1] >= stays and len(numbers) < most:
            number = self.q3.pop()
            self.delta.put_first(number)
            numbers.append(number)
        while self.q2 and len(numbers) < most:
            number = self.q2.popleft()
            self.delta.put_last(number)
            numbers.append(number)
        return numbers
