"""What is known of one fault window up to now: its target, its armed fault, its facts.

The window (windows.py) writes it. The manifest, claims and the display read it.
"""

from collections.abc import Mapping
from dataclasses import replace

from faults.core.actions import KillClients
from faults.core.model import Armed
from faults.core.places import joined
from harness.plan.declared import Declared
from harness.plan.fault_properties import declared_properties
from harness.plan.fault_words import fault_words, resolved_words
from harness.plan.layouts.servers import Servers
from harness.plan.model import Window
from harness.run.core.resolved_target import ResolvedTarget
from spark_analysis.schema.facts import Absence
from spark_analysis.schema.facts import Window as WindowFacts
from spark_analysis.schema.words import UnverifiedCause

NOT_BEGUN, NOT_VERIFIED = "not begun", "not verified active"


class WindowState:
    """The state of one window. `facts` are always those of now, and `armed` is the fault that it
    may have opened with; None: it has not got so far."""

    def __init__(
        self, window: Window, servers: Servers, numbers: Mapping[str, int], now_ns: int
    ) -> None:
        """`numbers`: of clients, by name."""
        self.window = window
        self._numbers = numbers
        self.target = ResolvedTarget(servers)
        self.armed: Armed | None = None
        self.refusal = ""  # why it did not open
        self.begun = False  # an action of it was tried
        self.newcomers: list[Absence] = []  # of the clients that took dead ones' places
        self.promoted_rank: Declared = None  # seen just before it was undone
        kind = window.fault.kind
        self.facts = WindowFacts.planned(
            window.number, kind.name, now_ns, NOT_BEGUN, declared_properties(kind)
        )

    def fail(self, doubt: str, cause: UnverifiedCause = UnverifiedCause.OTHER) -> None:
        """Add a reason why the fault is not verified. The first cause stands."""
        old = self.facts.unverified_reason
        keep = old if old not in ("", NOT_BEGUN, NOT_VERIFIED) else ""
        reason = "; ".join(part for part in (keep, doubt) if part)
        if self.facts.unverified_cause:
            cause = UnverifiedCause(self.facts.unverified_cause)
        self.facts = replace(self.facts, unverified_reason=reason, unverified_cause=cause.value)

    @property
    def places(self) -> tuple[str, ...]:
        """Return the hosts or processes that it means (of clients: their names); () before."""
        return self.target.places if self.armed else ()

    @property
    def resolved(self) -> str:
        return joined(self.places)

    @property
    def title(self) -> str:
        """Return `kill master of orders`; once resolved, `kill ref1 (master of orders)`."""
        fault, target = self.window.fault, str(self.window.fault.target)
        place = self.resolved if self.armed else target
        words = fault_words(fault.kind.name, place, fault.options.affected_clients)
        return resolved_words(words, target, place)

    @property
    def returned(self) -> bool | None:
        """Return whether what the fault took came back in the run; None: not seen."""
        if self.armed is None or not self.armed.returns:
            return False
        return True if self.facts.gone else None

    @property
    def held(self) -> dict[str, str]:
        """Return what it may keep down when the run is over, and why."""
        if self.armed is None or not self.begun or self.facts.ended_ns is not None:
            return {}
        never = "the scenario never ends it" if not self.armed.returns else "its undo failed"
        why = f"fault {self.facts.number} ({self.facts.kind}) is still active: {never}"
        return dict.fromkeys(self.armed.places, why)

    @property
    def absences(self) -> tuple[Absence, ...]:
        """Return the clients that the fault kept away, and how long; killed ones for ever."""
        clients = self.armed.clients if self.armed else ()
        until_ns = None if self.killed else self.facts.ended_ns
        taken = (
            Absence(self._numbers[client], self.facts.origin_ns, until_ns) for client in clients
        )
        return (*taken, *self.newcomers)

    @property
    def killed(self) -> tuple[str, ...]:
        """Return the clients that the fault killed, or was to kill."""
        actions = self.armed.actions if self.armed else ()
        return tuple(c for one in actions if isinstance(one, KillClients) for c in one.clients)

    @property
    def resource(self) -> str:
        """Return the resource that its host runs short of; "" for other faults."""
        return self.window.fault.options.exhausted
