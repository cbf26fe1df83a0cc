"""One kind of defect, and the defects by the order in which the table lists them."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.rigs.defects.runs import Run

Break = Callable[[Run, Random], Run | None]


@dataclass(frozen=True, slots=True)
class Defect:
    """A way in which a broker is broken.

    `claims`: at least one of them must FAIL. `reasons`: one of these words must stand in the
    reason of an INCONCLUSIVE verdict where none does; without any, INCONCLUSIVE is a miss.
    """

    name: str
    does: str
    claims: tuple[str, ...]
    apply: Break  # None: the run has nothing that this defect could strike
    reasons: tuple[str, ...] = ()
