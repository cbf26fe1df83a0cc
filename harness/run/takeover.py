"""Until when a fault that was seen to be gone may still change who holds a queue.

1. Peers whose connections broke knew at once, so they have long agreed when the host is back.
2. Peers that met silence give a host up after 1.25 T of it at the latest, even where it ended just
   before; and hosts that had given each other up agree on one master only after they have met
   again (docs/behaviour/rabbitmq.md 3.8, 6.1: the losers of an autoheal restart for about 6 s).
3. A second for what was on its way, as everywhere.
"""

from faults.kind import Kind

GIVEN_UP_TIMERS = 1.25
AGREEING_S = 10.0
ON_ITS_WAY_S = 1.0


def over_ns(kind: Kind, returned_ns: int, gone_ns: int, detection_timeout_s: float) -> int:
    """When the last takeover is over that a fault may have set off; times in ns of run time."""
    if not kind.silences_peers:
        return gone_ns + _ns(ON_ITS_WAY_S)
    silent_ns = gone_ns if kind.repeats else returned_ns  # the last silence began later
    given_up_ns = silent_ns + _ns(GIVEN_UP_TIMERS * detection_timeout_s)
    return max(gone_ns, given_up_ns) + _ns(AGREEING_S + ON_ITS_WAY_S)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
