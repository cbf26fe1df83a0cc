"""The consumers of a queue: who gets the next message (docs/behaviour/rabbitmq.md 2.3).

1. Among those that may take one, the highest x-priority first, then in turn.
2. `prefetch` bounds what a consumer has unacknowledged; a shared one is bound by its channel's
   grants instead (protocol.py: Want, Grant). Without acknowledgements there is no bound.
3. An exclusive consumer is alone. Where one is to be active at a time it is the one that came
   first of those that are there, whatever their priorities.
4. A channel has UNSENT_MAX deliveries of a queue at most that have not gone out to its client, as
   in RabbitMQ, whatever its prefetch, and without acknowledgements, too: who does not read takes
   no more of a queue with him than that (docs/behaviour/rabbitmq.md, item 72).
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from reference_impl.pid import Pid
from reference_impl.protocol.queues import Consume

PRIORITY_ARGUMENT = "x-priority"
UNSENT_MAX = 200


@dataclass(slots=True, eq=False)
class Consumer:
    channel: Pid
    tag: str
    no_ack: bool
    exclusive: bool
    prefetch: int
    shared: bool
    priority: int
    taken: int = 0
    in_line: bool = False
    gone: bool = False

    @property
    def has_room(self) -> bool:
        return self.no_ack or not self.prefetch or self.taken < self.prefetch

    @property
    def needs_grant(self) -> bool:
        return self.shared and not self.no_ack


class Consumers:
    def __init__(self) -> None:
        self._all: dict[tuple[Pid, str], Consumer] = {}
        self._lines: dict[int, deque[Consumer]] = {}  # who may take one, by priority
        self._priorities: list[int] = []  # the highest first
        self._grants: dict[Pid, int] = {}
        self._unsent = Counter[Pid]()
        self._wanting: dict[Pid, bool] = {}  # no grant is left; whether the channel was notified
        self.had_any = False
        self.single = False  # whether one alone is active

    def __len__(self) -> int:
        return len(self._all)

    def refuses(self, exclusive: bool) -> bool:
        """Return whether a new one is refused."""
        return bool(self._all) and (exclusive or any(it.exclusive for it in self._all.values()))

    def add(self, consume: Consume) -> None:
        priority = consume.arguments.get(PRIORITY_ARGUMENT, 0)
        consumer = Consumer(
            channel=consume.channel,
            tag=consume.tag,
            no_ack=consume.no_ack,
            exclusive=consume.exclusive,
            prefetch=consume.prefetch,
            shared=consume.shared,
            priority=priority if isinstance(priority, int) else 0,
        )
        self.cancel(consume.channel, consume.tag)
        self._all[consume.channel, consume.tag] = consumer
        self.had_any = True
        self._line_up(consumer)

    def cancel(self, channel: Pid, tag: str) -> bool:
        """Cancel a consumer. Return whether there was one."""
        consumer = self._all.pop((channel, tag), None)
        if consumer is None:
            return False
        consumer.gone = True
        if consumer.in_line:
            self._lines[consumer.priority].remove(consumer)
            consumer.in_line = False
        if self.single and self._all:
            self._line_up(self._active)
        return True

    def forget(self, channel: Pid) -> bool:
        """A channel is gone; whether it had consumers."""
        tags = [tag for owner, tag in self._all if owner == channel]
        for tag in tags:
            self.cancel(channel, tag)
        self._grants.pop(channel, None)
        self._wanting.pop(channel, None)
        self._unsent.pop(channel, None)
        return bool(tags)

    def next(self) -> Consumer | None:
        """Return the consumer that takes the message at hand; its room is used."""
        for priority in self._priorities:
            line = self._lines[priority]
            while line:
                consumer = line.popleft()
                consumer.in_line = False
                if self._is_full(consumer.channel):
                    continue
                if consumer.needs_grant and not self._use_grant(consumer.channel):
                    continue
                if not consumer.no_ack:
                    consumer.taken += 1
                self._unsent[consumer.channel] += 1
                self._line_up(consumer)
                return consumer
        return None

    def wants(self) -> Iterable[Pid]:
        """Channels that have to be told that a grant is wanted."""
        if not self._wanting:
            return ()
        pending = [channel for channel, notified in self._wanting.items() if not notified]
        for channel in pending:
            self._wanting[channel] = True
        return pending

    def grant(self, channel: Pid, deliveries: int) -> None:
        self._grants[channel] = self._grants.get(channel, 0) + deliveries
        self._wanting.pop(channel, None)
        for consumer in self._all.values():
            if consumer.channel == channel and consumer.needs_grant:
                self._line_up(consumer)

    def sent(self, channel: Pid, deliveries: int) -> None:
        """Note that so many more have gone out. One that has no consumer any more says so, too."""
        was_full = self._is_full(channel)
        self._unsent[channel] = max(0, self._unsent[channel] - deliveries)
        if was_full and not self._is_full(channel):
            for consumer in self._all.values():
                if consumer.channel == channel:
                    self._line_up(consumer)

    @property
    def _active(self) -> Consumer:
        """Return the only consumer, if there is one alone."""
        return next(iter(self._all.values()))

    def _is_full(self, channel: Pid) -> bool:
        return self._unsent[channel] >= UNSENT_MAX

    def released(self, consumer: Consumer) -> None:
        """One of its deliveries was settled."""
        consumer.taken -= 1
        self._line_up(consumer)

    def _use_grant(self, channel: Pid) -> bool:
        left = self._grants.get(channel, 0)
        if left:
            self._grants[channel] = left - 1
        else:
            self._wanting.setdefault(channel, False)
        return bool(left)

    def _line_up(self, consumer: Consumer) -> None:
        if consumer.in_line or consumer.gone or not consumer.has_room:
            return
        if self.single and consumer is not self._active:
            return
        if self._is_full(consumer.channel):
            return
        if consumer.needs_grant and consumer.channel in self._wanting:
            return
        if consumer.priority not in self._lines:
            self._lines[consumer.priority] = deque()
            self._priorities = sorted(self._lines, reverse=True)
        self._lines[consumer.priority].append(consumer)
        consumer.in_line = True
