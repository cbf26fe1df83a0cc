"""Places that are set, as the runs that they make: mostly few, however many places there are."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from spark_analysis.engine.kernel.arrays import Bools, Ints


@dataclass(frozen=True, slots=True)
class Runs:
    """The set ones of `size` places: the first and the last place of each run, ascending."""

    firsts: Ints
    lasts: Ints
    size: int

    @classmethod
    def of(cls, flags: Bools) -> Self:
        edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
        return cls(edges[::2], edges[1::2] - 1, len(flags))

    def up_to(self, places: Ints) -> Ints:
        """The last that is set of all up to each of these; -1 where none is."""
        run = np.searchsorted(self.firsts, places, side="right") - 1
        found: Ints = np.minimum(places, np.append(self.lasts, -1)[run])
        return found

    def starting(self, places: Ints | int) -> Ints:
        """The first that is set of each of these and all behind it; the size where none is."""
        run = np.searchsorted(self.lasts, places)
        found: Ints = np.maximum(places, np.append(self.firsts, self.size)[run])
        return found
