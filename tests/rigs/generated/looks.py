"""Looks at name servers, made by chance: what a prober writes while they come, go and hang.

1. A look's times and place are drawn so that looks overlap, end in another order than they began,
   begin or end in the same instant, and touch the edges of windows.
2. Views repeat, and the same view is now and then told in another order.
"""

from collections.abc import Iterator
from random import Random

from harness.plan.seeds import stream
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.views import CLUSTER, LEADER, NOTHING, ROUTE, STOOD_STILL
from tests.rigs.generated.histories import Row

SHOWN = (
    "broker-a master at a:1",
    "broker-a slave 1 at b:1",
    "broker-a master at b:1",
    "broker-b master at c:1",
    "broker-a 4 read and 4 write queues",
)
WHY = ("no answer within 1 s", "closed by the server")


def looks(facts: Facts, number: int) -> list[Row]:
    """Rows of `probes` for one history; those of other kinds lie among them."""
    random, of_voters = stream(number, "looks"), stream(number, "looks at voters")
    rows: list[Row] = []
    probers = random.sample((7, 8, 9), random.choice((0, 1, 1, 2)))
    for prober in probers:
        for name_server in ("ns1", "ns2"):
            for kind in (ROUTE, CLUSTER, "consumer offset"):
                rows += _of_a_way(random, facts, prober, kind, name_server)
    random.shuffle(rows)
    for prober in probers:
        for row in _of_a_way(of_voters, facts, prober, LEADER, "ns1"):
            rows.insert(of_voters.randrange(len(rows) + 1), row)
    return rows


def _of_a_way(random: Random, facts: Facts, prober: int, kind: str, name_server: str) -> list[Row]:
    times = _calm(random, facts) if random.random() < 0.5 else _wild(random, facts)
    rarely = random.choice((0.05, 0.3))
    view = random.sample(SHOWN, 3)
    rows: list[Row] = []
    for started_ns, ended_ns in times:
        if random.random() < rarely:
            view = random.sample(SHOWN, random.randrange(len(SHOWN)))
        rows.append(_row(random, prober, kind, name_server, started_ns, ended_ns, view))
    return rows


def _calm(random: Random, facts: Facts) -> Iterator[tuple[int, int]]:
    """One after another, all the time."""
    first_ns, last_ns = facts.load_started_ns, facts.load_ended_ns
    period_ns = max(1, (last_ns - first_ns) // 25)
    for started_ns in range(first_ns, last_ns, period_ns):
        yield started_ns, started_ns + random.randrange(period_ns + 1)


def _wild(random: Random, facts: Facts) -> Iterator[tuple[int, int]]:
    until_ns = facts.load_ended_ns + 100
    edges = [facts.load_ended_ns, *(window.origin_ns for window in facts.windows)]
    edges += [window.returned_ns for window in facts.windows]
    for _ in range(random.choice((0, 1, 2, 9, 20))):
        started_ns = random.randrange(facts.load_started_ns, until_ns)
        if random.random() < 0.2:
            started_ns = random.choice(edges)
        ended_ns = started_ns + random.choice((0, 1, random.randrange(until_ns)))
        if random.random() < 0.2:
            ended_ns = max(started_ns, random.choice(edges))
        yield started_ns, ended_ns


def _row(
    random: Random,
    prober: int,
    kind: str,
    name_server: str,
    started_ns: int,
    ended_ns: int,
    view: list[str],
) -> Row:
    ok = random.random() < 0.7
    detail = "; ".join(random.sample(view, len(view))) or NOTHING
    if not ok:
        detail = random.choice(WHY) + random.choice(("", "", STOOD_STILL))
    return {
        "prober": prober,
        "kind": kind,
        "target": name_server,
        "started_ns": started_ns,
        "ended_ns": ended_ns,
        "ok": int(ok),
        "detail": detail,
    }
