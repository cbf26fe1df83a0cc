"""PURE: what a scenario may say of a fault in addition to kind, target and window.

A kind names the keys that it takes; `field` is the field of model.Options that a key sets.
"""

from dataclasses import dataclass
from math import inf

from faults.shapes import SHAPES

LATENCY_S = (0.05, 5.0)  # a busy machine stalls for less; a proof of more outlasts windows
RATE_KB_MAX = 5_000  # a broker may not be faster than that by itself
PHASE_S_MIN = 0.2  # of a flap; a change takes 0.03 s by proxy, 0.1 to 0.2 s in containers
BYTES_MAX = 10_000_000  # a canary has to send more through the broker


@dataclass(frozen=True, slots=True)
class Option:
    """A key that a scenario may give a fault, and the field of model.Options that it sets."""

    key: str
    field: str
    meaning: str
    choices: tuple[str, ...] = ()  # empty: a length of time (in seconds) or a number
    least: float = 0.0  # less, or more than `most`, could not be told from nothing
    most: float = inf


OPTIONS = {
    option.key: option
    for option in (
        Option("clients", "clients", "who is meant", ("all", "publishers", "consumers")),
        Option("direction", "direction", "what stands still", ("both", "to_broker", "to_client")),
        Option("shape", "shape", "who is cut from whom", tuple(SHAPES)),
        Option("resource", "resource", "what runs short", ("memory", "disk")),
        Option(
            "latency",
            "latency_s",
            "later in each direction",
            least=LATENCY_S[0],
            most=LATENCY_S[1],
        ),
        Option(
            "rate", "rate_kb", "KB (1,000 bytes) a second and direction", least=1, most=RATE_KB_MAX
        ),
        Option("bytes", "bytes", "how much of a connection still passes", least=1, most=BYTES_MAX),
        Option("down", "down_s", "so long cut", least=PHASE_S_MIN),
        Option("up", "up_s", "so long joined, in turn", least=PHASE_S_MIN),
    )
}
