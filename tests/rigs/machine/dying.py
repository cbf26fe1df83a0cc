"""What ends the process that looks at it, as a kill would: for tasks of Spark's, who import it."""

import os
from collections.abc import Iterator
from typing import Any


class Dying(tuple[Any, ...]):
    """A tuple that no process survives."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        os._exit(9)
