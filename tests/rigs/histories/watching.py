"""Looks at name servers, told by hand: what a prober saw of whom, and when.

Milliseconds in. What a story does not mention: prober 9 asks for the route, answered in 5 ms.
"""

from tests.rigs.histories.by_hand import History, ns

MASTER, SLAVE = "broker-a master at rkt1:10911", "broker-a slave 1 at rkt3:10931"
OTHER = "broker-b master at rkt2:10921"
ALL = (MASTER, SLAVE, OTHER)
PROBER = 9


def look(
    history: History,
    name_server: str,
    at_ms: float,
    *shown: str,
    kind: str = "route",
    took_ms: float = 5,
    why: str = "",
    prober: int = PROBER,
) -> History:
    """One look; `why` it was not answered, where it was not."""
    row = {
        "prober": prober,
        "kind": kind,
        "target": name_server,
        "started_ns": ns(at_ms),
        "ended_ns": ns(at_ms + took_ms),
        "ok": int(not why),
        "detail": why or "; ".join(shown) or "nothing",
    }
    history.rows.setdefault("probes", []).append(row)
    return history


def looks(history: History, name_server: str, at_ms: range, *shown: str) -> History:
    """Looks that all show the same."""
    for each in at_ms:
        look(history, name_server, each, *shown)
    return history
