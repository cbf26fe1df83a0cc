"""Names of processes, as Erlang has them."""

from typing import NamedTuple


class Pid(NamedTuple):
    """A process: the node, which boot of it, and its number there (0 is the supervisor)."""

    node: str
    boot: int
    number: int
