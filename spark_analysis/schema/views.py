"""The views of name servers and voters over time: three marts and two stages, and their rules.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py.

WORDS
- look: a row of `probes` of kind ROUTE or CLUSTER: one question to the name server `target`; or of
  kind LEADER: one question to the voter `target`, who leads. It is answered if ok. Its view is
  the set of sentences of its detail: split at "; ", and none where the detail is NOTHING. It is
  stalled if it is not answered and its detail ends in STOOD_STILL: the prober stood still
  meanwhile, and this says nothing of the server.
- way: (prober, kind, target). The looks of a way are ordered by (ended_ns, started_ns, place in
  the table). A look is late if a look before it in this order is answered and has a greater
  started_ns: it says nothing new. What is neither late nor stalled counts.

QUERIES, one row a way: `looks`: how many, late and stalled ones included; `answered`: of them;
`first_ns`, `last_ns`: the least and the greatest started_ns; `gap_ns`: the longest time between
two started_ns that follow each other in time, 0 where there is one look.

CHANGES, one row a sentence that came or went between two answered looks that count and follow
each other (the view before the first one is empty): `shown` whether it came. It happened after
`after_ns`, the started_ns of the earlier look (NOTHING_BEFORE for the first one), and by `by_ns`,
the ended_ns of the later one.

SILENCES, one row a longest row of looks that count, follow each other and are not answered:
`from_ns`: started_ns of the first; `until_ns`: ended_ns of the answered look that counts and
follows, or of the last of them where there is none (`ended` false); `looks`: how many; `why`: the
detail of the first.

STAGES (rows of availability.py's mart, of one window each), of the ways of kind ROUTE that have
an answered look that counts with ended_ns <= origin_ns; what the last of these showed is what the
way showed before. A way changed at (least, most) if, of the answered looks that count and have
origin_ns < ended_ns <= limit, one has another view: most is the ended_ns of the first such look,
least the started_ns of the look that counts before it, answered or not: who does not answer shows
nothing, and what it has dropped meanwhile is unknown. A way is left out if it was silent from the
fault on: of the looks that count, have started_ns >= returned_ns and ended_ns <= limit, and come
before the look that shows another view (where there is one), there is at least one, and none is
answered. A name server that the fault stopped comes back with an empty table: that shows its
restart, and not when it noticed the fault.
- `route_changed`: the first name server showed something else. Reached if a way changed; between
  the smallest least and the smallest most.
- `route_changed_everywhere`: the last one did. Reached if all ways changed; between the greatest
  least and the greatest most.
Reached at `most`: after_ns = most - origin_ns, uncertainty_ns = after_ns - max(0, least -
returned_ns): it took at least after_ns - uncertainty_ns. Not reached: after_ns = limit -
origin_ns, uncertainty_ns = returned_ns - origin_ns. No such way, no row. Rows of windows that
spare brokers (of_clients, or of_client_links) are left out of comparisons and reports.
"""

import re
from dataclasses import dataclass

from spark_analysis.schema.facts import Window

ROUTE, CLUSTER, LEADER = "route", "cluster", "leader"
KINDS = (ROUTE, CLUSTER, LEADER)
NOTHING = "nothing"
STOOD_STILL = "; this prober itself stood still meanwhile"
NOTHING_BEFORE = -1
STAGES = ("route_changed", "route_changed_everywhere")
_SEPARATOR = "; "
_SHOWN = re.compile(r"(?P<broker>.+) (?:(?P<master>master)|slave (?P<id>\d+)) at (?P<address>.+)")


@dataclass(frozen=True, slots=True, order=True)
class QueryTotals:
    run: str
    prober: int
    kind: str
    name_server: str  # or voter
    looks: int
    answered: int
    first_ns: int
    last_ns: int
    gap_ns: int


@dataclass(frozen=True, slots=True, order=True)
class Change:
    run: str
    prober: int
    kind: str
    name_server: str
    what: str
    shown: bool
    after_ns: int
    by_ns: int


@dataclass(frozen=True, slots=True, order=True)
class Silence:
    run: str
    prober: int
    kind: str
    name_server: str
    from_ns: int
    until_ns: int
    ended: bool
    looks: int
    why: str


@dataclass(frozen=True, slots=True)
class Views:
    """The three marts of one run or of many."""

    queries: tuple[QueryTotals, ...] = ()
    changes: tuple[Change, ...] = ()
    silences: tuple[Silence, ...] = ()


VIEWS: dict[str, type] = {"queries": QueryTotals, "changes": Change, "silences": Silence}


@dataclass(frozen=True, slots=True, order=True)
class Shown:
    """One broker process as it is shown: who it is, and where. Id 0 is the master."""

    broker: str
    id: int
    address: str

    @property
    def role(self) -> str:
        return f"slave {self.id}" if self.id else "master"

    @property
    def process(self) -> str:
        return f"{self.broker} {self.role}"

    def __str__(self) -> str:
        return f"{self.process} at {self.address}"


def may_move_routes(window: Window) -> bool:
    """Return whether a window can have the two stages: no route depends on clients or on their
    links. Comparisons and reports leave out the others."""
    return not window.spares_brokers


def sentences(detail: str) -> frozenset[str]:
    """The view that an answered look's detail tells."""
    return frozenset() if detail == NOTHING else frozenset(detail.split(_SEPARATOR))


def detail_of(shown: tuple[object, ...]) -> str:
    """The detail of an answered look, of what it showed."""
    return _SEPARATOR.join(map(str, shown)) or NOTHING


def broker_in(sentence: str) -> Shown | None:
    """The broker process that a sentence of a view is about; None: it is about queues."""
    found = _SHOWN.fullmatch(sentence)
    if found is None:
        return None
    return Shown(found["broker"], int(found["id"] or 0), found["address"])
