"""The hosts of a queue's replicas, as brokers reported them at one time: rows of `probes`.

1. A run records them when a fault is about to begin, just before its undo, and after the load.
2. `detail` is JSON: the serving host, the others by age, and the synchronised ones (null: no
   broker reports it). A row that cannot be read is left out: reports then name no host.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.run_folder.rows import Probe

KIND = "replicas"


@dataclass(frozen=True, slots=True)
class ReplicaLook:
    """The replicas of one queue. `serving`: the host that serves clients; "": no host said so.

    `synchronised`: the copies that hold everything; None: unknown. Brokers were queried at
    `began_ns` and had answered at `at_ns`.
    """

    queue: str
    began_ns: int
    at_ns: int
    serving: str
    copies: tuple[str, ...]  # the oldest first
    synchronised: tuple[str, ...] | None

    def is_synchronised(self, host: str) -> bool | None:
        """Return whether a copy held everything; None: unknown."""
        return None if self.synchronised is None else host in self.synchronised

    def describe(self, host: str) -> str:
        """Return `ref1 (not synchronised)`; the host alone if it is unknown."""
        states = {True: " (synchronised)", False: " (not synchronised)", None: ""}
        return f"{host}{states[self.is_synchronised(host)]}"


def look_text(
    serving: str | None, copies: Sequence[str], synchronised: Sequence[str] | None
) -> str:
    """Return what a row's `detail` says of one queue."""
    known = None if synchronised is None else list(synchronised)
    return json.dumps({"serving": serving or "", "copies": list(copies), "synchronised": known})


def looks(probes: Iterable[Probe]) -> tuple[ReplicaLook, ...]:
    """Return the looks among these rows, in the order of time."""
    return tuple(sorted(_readable(probes), key=lambda one: (one.at_ns, one.queue)))


def _readable(probes: Iterable[Probe]) -> Iterator[ReplicaLook]:
    for row in probes:
        if row.kind != KIND:
            continue
        try:
            found = json.loads(row.detail)
            copies, full = tuple(map(str, found["copies"])), found["synchronised"]
            known = None if full is None else tuple(map(str, full))
            serving = str(found["serving"])
        except (ValueError, KeyError, TypeError):
            continue
        yield ReplicaLook(row.target, row.started_ns, row.ended_ns, serving, copies, known)
