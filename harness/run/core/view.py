"""What a person sees of a run while it goes on: pure sums over what the workers said last.

A rate is what a worker counted between two of its reports, divided by the time between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.run.core.progress import Part
from harness.run.core.strip import Strip

NS_PER_S = 1_000_000_000
SILENT_NS = 2 * NS_PER_S  # a worker that reported nothing for so long counts as still
_WITHOUT_LOAD = ("drain", "audit", "closing", "finished")  # phases after the load
_UNDER_LOAD = ("windows", "recovery", "settle")  # phases that workers report from at once


class Speaker(Protocol):
    @property
    def status(self) -> dict[str, int]: ...

    @property
    def earlier(self) -> dict[str, int]: ...  # the status a second or so before


@dataclass(frozen=True, slots=True)
class PerSecond:
    """The messages a second, over all workers, in the last second or so."""

    sent: float  # attempts
    confirmed: float
    delivered: float
    again: float = 0.0  # of `sent`: attempts after the first


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """A run while it goes on: counts since the load began, and the rates of now.

    `missed`: publishes whose deadline passed without a confirm. `rates` None: no worker reported
    twice in this phase, or the load has ended. `place`: which of the experiment's runs it is,
    `2 of 3`. `outstanding`: due and not confirmed; `waiting`: of these, not sent yet.
    """

    phase: str
    missed: int
    outstanding: int
    armed: tuple[str, ...]
    left_s: float
    rates: PerSecond | None = None
    parts: tuple[Part, ...] = ()
    strip: Strip | None = None  # None where nothing is due at a time, or nothing is confirmed
    waits: tuple[str, ...] = ()  # what is waited for beside the plan, a clause each
    run: str = ""
    place: str = ""
    has_consumers: bool = True  # before the drain
    awaits_undo: bool = False  # the undo of a planned fault is still to come
    waiting: int = 0
    never_sent: int = 0  # of `missed`
    groups: int = 0  # consumer groups that each get every message; 0: no such groups

    @property
    def deliveries(self) -> str:
        """Return `delivered 200/s`, or the mean of consumer groups: `delivered 200/s per group (2
        groups)`. A run without consumers delivers nothing before the drain."""
        if not self.has_consumers or self.rates is None:
            return "no consumers"
        if self.groups < 2:
            return f"delivered {self.rates.delivered:,.0f}/s"
        each = self.rates.delivered / self.groups
        return f"delivered {each:,.0f}/s per group ({self.groups} groups)"

    @property
    def awaits_rates(self) -> bool:
        """Return whether the phase will have rates once workers have reported twice in it."""
        return self.rates is None and self.phase in _UNDER_LOAD

    @property
    def sends(self) -> str:
        """Return `sent 200/s`; with retries `sent 0/s, sent again 2,100/s`: a publisher whose
        confirm window is full sends nothing new. "" without rates."""
        if self.phase == "settle":
            new = "nothing new is sent"
        elif self.rates is None:
            return ""
        else:
            new = f"sent {max(0.0, self.rates.sent - self.rates.again):,.0f}/s"
        again = f"{self.rates.again:,.0f}" if self.rates is not None else "0"
        return f"{new}, sent again {again}/s" if again != "0" else new

    @property
    def counts(self) -> tuple[str, ...]:
        """Return `unconfirmed 2,000`, `not sent yet 409`, `late 11,586 (9,177 dropped unsent)`."""
        parts = [f"unconfirmed {self.outstanding - self.waiting:,}"]
        parts += [f"not sent yet {self.waiting:,}"] if self.waiting else []
        return (*parts, *self.late_counts)

    @property
    def late_counts(self) -> tuple[str, ...]:
        """Return `late 11,586 (9,177 dropped unsent)`; nothing where nothing has a deadline."""
        if self.late is None:
            return ()
        never = f" ({self.never_sent:,} dropped unsent)" if self.never_sent else ""
        return (f"late {self.late:,}{never}",)

    @property
    def late(self) -> int | None:
        """Return the publishes that missed their deadline; None: nothing has one."""
        return None if self.strip is None else self.missed


def view_of(
    phase: str,
    workers: Sequence[Speaker],
    armed: Sequence[str],
    left_s: float,
    run_ns: int,
    load_started_ns: int | None,
    phase_began_ns: int = 0,
) -> LiveCounts:
    """`run_ns` and the others: run time. Rates are those of the phase."""

    def total(name: str) -> int:
        return sum(worker.status.get(name, 0) for worker in workers)

    rates = None
    if load_started_ns is not None and phase not in _WITHOUT_LOAD:
        rates = _rates(workers, run_ns, max(load_started_ns, phase_began_ns))
    return LiveCounts(
        phase,
        total("missed"),
        total("outstanding"),
        tuple(armed),
        left_s,
        rates,
        waiting=total("waiting"),
        never_sent=total("never_sent"),
    )


def _rates(workers: Sequence[Speaker], run_ns: int, since_ns: int) -> PerSecond | None:
    """Return the rates between two reports since then; None: no worker has sent two, or one that
    goes on has sent fewer."""
    going = [one for one in workers if run_ns - one.status.get("at_ns", -SILENT_NS) < SILENT_NS]
    if any(one.earlier.get("at_ns", since_ns) < since_ns for one in going):
        return None
    timed = [
        (one.earlier, one.status, one.status["at_ns"] - one.earlier["at_ns"])
        for one in workers
        if one.earlier.get("at_ns", -1) >= since_ns
    ]
    moving = [one for one in timed if one[2] > 0]

    def per_s(name: str) -> float:
        return sum(
            (status.get(name, 0) - earlier.get(name, 0)) * NS_PER_S / span_ns
            for earlier, status, span_ns in moving
            if run_ns - status["at_ns"] < SILENT_NS
        )

    return PerSecond(*map(per_s, ("sent", "confirmed", "delivered", "again"))) if moving else None
