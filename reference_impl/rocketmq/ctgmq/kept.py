"""What a replica keeps beside its log: its code, which epoch began where, how far its slaves had
acknowledged when it was master last, and topics.

1. It is on the disk before it counts.
2. An epoch has one master, and begins at one place: two logs that have the same epoch from the
   same place on are equal up to where the first of them leaves it.
"""

from typing import Protocol

import msgspec

from reference_impl.rocketmq.store.disk import Disk

DOCUMENT = "replica"


class SharedTopics(Protocol):
    """The topics of a replica: a slave has those of its master."""

    @property
    def version(self) -> object:
        """Return another value after every change."""

    def table(self) -> bytes: ...

    def take(self, table: bytes) -> None:
        """Take a master's table. Raises ValueError for what is none."""


class _KeptReplica(msgspec.Struct, frozen=True):
    code: str
    epochs: list[tuple[int, int]]
    led_epoch: int
    slave_ack: int


class ReplicaMemory:
    """`epochs`: each with its start, in order. `led_epoch`: in which it was master last, and has
    cut nothing since; 0: none. `slave_ack`: SlaveAckOffset of that time."""

    def __init__(self, disk: Disk, code: str) -> None:
        """Raises ValueError for a document that is none."""
        self._disk = disk
        document = disk.document(DOCUMENT)
        kept = _KeptReplica(code, [], 0, 0)
        if document is not None:
            try:
                kept = msgspec.json.decode(document, type=_KeptReplica)
            except msgspec.DecodeError as error:
                raise ValueError(f"{DOCUMENT}: no memory of a replica: {error}") from error
        self.code, self.epochs = kept.code, kept.epochs
        self.led_epoch, self.slave_ack = kept.led_epoch, kept.slave_ack
        self._keep()

    @property
    def last_epoch(self) -> int:
        return self.epochs[-1][0] if self.epochs else 0

    def begin(self, epoch: int, start: int) -> None:
        """Note that an epoch begins there, unless it did before."""
        if epoch > self.last_epoch:
            self.epochs.append((epoch, start))
            self._keep()

    def lead(self, epoch: int) -> None:
        if self.led_epoch != epoch:
            self.led_epoch, self.slave_ack = epoch, 0
            self._keep()

    def acknowledged(self, position: int) -> None:
        if position > self.slave_ack:
            self.slave_ack = position
            self._keep()

    def match(self, epochs: list[tuple[int, int]], end: int) -> None:
        """Take its master's epochs up to there, those without a message too: a log without any
        is compared by them as well."""
        self.epochs = [one for one in epochs if one[1] <= end]
        self.led_epoch = 0
        self._keep()

    def cut(self, end: int) -> None:
        """Forget epochs that began later, and that it led."""
        self.match(self.epochs, end)

    def epoch_at(self, position: int) -> tuple[int, int, int | None]:
        """Return the epoch of what stands there, its start and its end; None: it has none."""
        end = None
        for epoch, start in reversed(self.epochs):
            if start <= position:
                return epoch, start, end
            end = start
        return 0, 0, end

    def _keep(self) -> None:
        kept = _KeptReplica(self.code, self.epochs, self.led_epoch, self.slave_ack)
        self._disk.keep(DOCUMENT, msgspec.json.encode(kept), flushed=True)


def common_end(
    one: list[tuple[int, int]], one_end: int, other: list[tuple[int, int]], other_end: int
) -> int | None:
    """Return up to where two logs are equal; None: they have no epoch in common."""
    starts = {*other}
    for place in range(len(one) - 1, -1, -1):
        if one[place] in starts:
            end = one[place + 1][1] if place + 1 < len(one) else one_end
            after = other.index(one[place]) + 1
            return min(end, other[after][1] if after < len(other) else other_end)
    return None
