"""A place in arrays for every message: its slot.

1. Slots sort as (producer, sequence) do.
2. Sequences are dense by contract, so a slot is an addition; where they are not (a damaged log),
   they are ranked first, which costs a sort and changes no answer.
3. Between the messages of a dense producer there may be slots of nothing: `taken` is false there.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import Bools, Ints, blocks, earliest, find, marked

_WASTE = 4  # dense as long as this many slots a row suffice
_SPARE = 1024


class Slots(Protocol):
    """The messages of a run, by slot."""

    @property
    def taken(self) -> Bools: ...

    def find(self, producer: Ints, sequence: Ints) -> NDArray[np.int64]:
        """The slot of each message; -1 where there is no such message."""
        ...

    def identities(self, slots: Ints) -> tuple[Ints, Ints]:
        """The producer and the sequence of each slot."""
        ...


def make_slots(producer: Ints, sequence: Ints) -> Slots:
    """Slots for all messages of these rows, which may name a message more than once."""
    producers = np.unique(producer)
    rank = find(producers, producer)
    lowest = earliest(len(producers), rank, sequence)
    highest = -earliest(len(producers), rank, -sequence)
    # Python's integers: a damaged log may span more than an int64 holds.
    spans = [high - low + 1 for low, high in zip(lowest.tolist(), highest.tolist(), strict=True)]
    if sum(spans) > _WASTE * len(producer) + _SPARE:
        return _ranked(producers, rank, sequence)
    lengths = np.array(spans, np.int64)
    starts = np.cumsum(lengths) - lengths
    taken = marked(sum(spans), starts[rank] + sequence - lowest[rank])
    return _Dense(producers, lowest, lengths, starts, taken)


@dataclass(frozen=True, slots=True)
class _Dense:
    producers: Ints
    lowest: Ints  # sequence, one a producer, as all below
    lengths: Ints
    starts: Ints  # the producer's first slot
    taken: Bools

    def find(self, producer: Ints, sequence: Ints) -> NDArray[np.int64]:
        slots = np.full(len(producer), -1, np.int64)
        if len(self.producers):
            for rows in blocks(len(slots)):
                slots[rows] = self._find(producer[rows], sequence[rows])
        return slots

    def _find(self, producer: Ints, sequence: Ints) -> NDArray[np.int64]:
        rank = find(self.producers, producer)
        ahead = sequence - self.lowest[rank]
        known = (rank >= 0) & (ahead >= 0) & (ahead < self.lengths[rank])
        slots = np.where(known, self.starts[rank] + ahead, 0)
        return np.where(known & self.taken[slots], slots, -1)

    def identities(self, slots: Ints) -> tuple[Ints, Ints]:
        rank = np.searchsorted(self.starts, slots, side="right") - 1
        return self.producers[rank], self.lowest[rank] + slots - self.starts[rank]


@dataclass(frozen=True, slots=True)
class _Ranked:
    producers: Ints
    sequences: Ints  # distinct, of all producers
    keys: Ints  # rank of the producer * sequences + rank of the sequence, one a slot
    taken: Bools

    def find(self, producer: Ints, sequence: Ints) -> NDArray[np.int64]:
        rank, place = find(self.producers, producer), find(self.sequences, sequence)
        # The rank of no producer is -1, which makes a key below 0.
        keys = np.where(place >= 0, rank * len(self.sequences) + place, -1)
        return find(self.keys, keys).astype(np.int64)

    def identities(self, slots: Ints) -> tuple[Ints, Ints]:
        rank, place = np.divmod(self.keys[slots], len(self.sequences))
        return self.producers[rank], self.sequences[place]


def _ranked(producers: Ints, rank: Ints, sequence: Ints) -> _Ranked:
    sequences = np.unique(sequence)
    keys = np.unique(rank * len(sequences) + find(sequences, sequence))
    return _Ranked(producers, sequences, keys, np.ones(len(keys), np.bool_))
