"""The changes in the successive answers of one server, and when they happened.

1. A look is one question and what came of it. Looks may overlap, and end in another order than
   they began; one that began before the last that was answered says nothing new.
2. Before the first answer no view is known: the first view is reported as a change, too.
3. Silence changes no view: what a silent server would show is unknown. It is reported
   once for each kind of look, and so is its end; a refusal counts as silence, in its words.
   A look during which the prober itself stood still is no silence.
4. A change happened after the start of the last look that showed the old view: that bound is
   reported with it.
"""

from dataclasses import dataclass

from harness.workers.remoting.leaders import Says
from harness.workers.remoting.routes import View
from spark_analysis.schema.views import CLUSTER, LEADER, ROUTE

UNANSWERED, ANSWERED = "unanswered", "answered again"
_CHANGED = {ROUTE: "route changed", CLUSTER: "cluster changed", LEADER: "leader changed"}
Answered = View | Says


@dataclass(frozen=True, slots=True)
class RouteQuery:
    """One question. `view` None: it was not answered, and `doubt` says why. Times in run time.

    `stalled`: the prober itself stood still meanwhile.
    """

    kind: str
    started_ns: int
    ended_ns: int
    view: Answered | None
    doubt: str = ""
    stalled: bool = False

    @property
    def detail(self) -> str:
        return self.doubt if self.view is None else str(self.view)


@dataclass(frozen=True, slots=True)
class ProberEvent:
    """What is written down as an event of the prober."""

    kind: str
    detail: str


class Watch:
    """Of one name server or voter; `name` is how events call it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: dict[str, RouteQuery] = {}  # by kind: the last that was answered
        self._silent_since_ns: dict[str, int] = {}  # by kind: when the first unanswered one began

    def see(self, look: RouteQuery) -> tuple[ProberEvent, ...]:
        """The changes that this look makes known."""
        if look.view is None:
            return self._unanswered(look)
        return (*self._answered(look), *self._compared(look, look.view))

    def _unanswered(self, look: RouteQuery) -> tuple[ProberEvent, ...]:
        last = self._last.get(look.kind)
        outdated = last is not None and look.started_ns < last.started_ns
        if outdated or look.stalled or look.kind in self._silent_since_ns:
            return ()
        self._silent_since_ns[look.kind] = look.started_ns
        return (ProberEvent(UNANSWERED, f"{self._name} {look.kind}: {look.doubt}"),)

    def _answered(self, look: RouteQuery) -> tuple[ProberEvent, ...]:
        since_ns = self._silent_since_ns.pop(look.kind, None)
        if since_ns is None:
            return ()
        span_s = (look.ended_ns - since_ns) / 1e9
        return (ProberEvent(ANSWERED, f"{self._name} {look.kind}: after {span_s:.2f} s"),)

    def _compared(self, look: RouteQuery, view: Answered) -> tuple[ProberEvent, ...]:
        before = self._last.get(look.kind)
        if before is not None and look.started_ns < before.started_ns:
            return ()
        self._last[look.kind] = look
        within = f" (within {(look.ended_ns - before.started_ns) / 1e9:.2f} s)" if before else ""
        return tuple(
            ProberEvent(_CHANGED[look.kind], f"{self._name} {sentence}{within}")
            for sentence in _since(view, None if before is None else before.view)
        )


def _since(view: Answered, before: Answered | None) -> tuple[str, ...]:
    """Looks of one kind have views of one type."""
    if isinstance(view, View):
        return view.since(before if isinstance(before, View) else None)
    return view.since(before if isinstance(before, Says) else None)
