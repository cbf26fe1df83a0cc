"""The cost of a run in its steady state: two marts, and the rules that fill them.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py.

The steady state is the judged time of window 0:
[load_started_ns, origin of window 1 or load_ended_ns). Layouts are compared only in the steady
state: a fault costs each of them something else.

STEADY_STATE, one row a run whose steady state is longer than 0, and only where facts.confirms:
- `from_ns`, `until_ns`: the steady state.
- `intended`: publishes with from_ns <= intended_ns < until_ns; 0 where not paced.
- `confirmed`: messages with from_ns <= confirm time < until_ns, whenever they were begun.
- a message is begun at the intended_ns of its attempt 1 where facts.paced, at the earliest sent_ns
  of its sent attempts where not. `begun`: messages begun within the steady state; those of a paced
  run whose attempt 1 has no row or no intent (below 0) are not begun at all.
- `p50_ns`, `p99_ns`: of the messages begun within the steady state that have a confirm time,
  confirm time minus begin, by nearest rank: the smallest value that at least half (99 %) of all do
  not exceed.
  None where there is no such message.

USE, one row a run and host that has a resources row. A host's samples are its rows with
from_ns <= at_ns < until_ns of the steady state, in the order of (at_ns, place in the table).
- `samples`: how many. With fewer than two, `from_ns` and `until_ns` are 0 and all else is None.
- `from_ns`, `until_ns`: the first and the last sample.
- `memory_median_bytes` by nearest rank, `memory_peak_bytes`: over the samples.
- counters (`cpu_ns`, network, disk): the last sample's value minus the first one's.
- None is not counted, never 0: of memory and of each counter that is 0 in every resources row of
  the run, of any host and time (some kernels do not count it); and of a counter of a host that
  falls between two consecutive samples (its host was restarted).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class SteadyState:
    run: str
    from_ns: int
    until_ns: int
    intended: int
    confirmed: int
    begun: int
    p50_ns: int | None
    p99_ns: int | None


@dataclass(frozen=True, slots=True, order=True)
class Use:
    run: str
    host: str
    samples: int
    from_ns: int
    until_ns: int
    cpu_ns: int | None
    memory_median_bytes: int | None
    memory_peak_bytes: int | None
    network_received_bytes: int | None
    network_sent_bytes: int | None
    disk_read_bytes: int | None
    disk_written_bytes: int | None


@dataclass(frozen=True, slots=True)
class Costs:
    """Both marts of one run or of many."""

    steady_state: tuple[SteadyState, ...] = ()
    use: tuple[Use, ...] = ()


COSTS: dict[str, type] = {"steady_state": SteadyState, "use": Use}
COUNTERS = (
    "cpu_ns",
    "network_received_bytes",
    "network_sent_bytes",
    "disk_read_bytes",
    "disk_written_bytes",
)
MEMORY = "memory_bytes"
