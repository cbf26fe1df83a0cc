"""PURE: which faults take their host away from all other hosts while they are active."""

from faults.core.kind import Excludes, Kind
from faults.core.options import FaultOptions
from faults.core.shapes import SHAPES
from faults.core.targets import HOST

_WHOLE = "one"  # the shape of a cut that separates the target's host from all others
assert _WHOLE in SHAPES


def isolates(kind: Kind, options: FaultOptions) -> bool:
    """Return whether no other host reaches the target's host as long as it is active. Loss and
    delay of packets (they have the queues of a host) let some through."""
    if kind.applies_to != HOST or kind.repeats or kind.excludes is Excludes.QUEUES:
        return False
    return (kind.ends_broker or kind.silences_peers) and getattr(
        options, "shape", _WHOLE
    ) == _WHOLE
