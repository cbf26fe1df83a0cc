"""The stages that reports show of each fault: those of the analysis, and the first new master that
a name server showed.

1. A fault that affects only clients, or their links, changes no route: it has no stage of routes.
2. A master is new if a name server shows it at an address at which no name server showed a master
   of that broker group when the fault began. Only what was shown before the next fault counts.
3. It happened between two queries. If none was shown, the stage has no row: groups without an
   election have no new master.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.claims.recovery import stages_of
from harness.claims.times import judged_ns
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.views import (
    NOTHING_BEFORE,
    ROUTE,
    Change,
    Views,
    broker_in,
    may_move_routes,
)

NEW_MASTER = "new_master_shown"
MEANINGS = {NEW_MASTER: "the first name server showed a broker group's master at another address"}


def with_new_masters(findings: Findings, facts: Facts, views: Views) -> Findings:
    """Return the findings with the stages that reports show."""
    found: list[Stage] = []
    for window in facts.windows:
        found += stages_of(findings, window)
        if may_move_routes(window):
            found += _new_master(window, facts, views)
    return replace(findings, stages=tuple(found))


def _new_master(window: Window, facts: Facts, views: Views) -> Iterator[Stage]:
    limit_ns = window.origin_ns + judged_ns(facts, window.number)
    shown = sorted(
        (one for one in views.changes if one.kind == ROUTE and one.shown),
        key=lambda one: one.by_ns,
    )
    before: dict[tuple[int, str, str], str] = {}  # a master's address, by way and broker group
    for change in (one for one in shown if one.by_ns <= window.origin_ns):
        if (master := _master_in(change)) is not None:
            before[change.prober, change.name_server, master[0]] = master[1]
    known = {(prober, group, address) for (prober, _, group), address in before.items()}
    groups = {(prober, group) for prober, group, _ in known}
    for change in (one for one in shown if window.origin_ns < one.by_ns <= limit_ns):
        master = _master_in(change)
        if master is None or change.after_ns == NOTHING_BEFORE:
            continue
        group = change.prober, master[0]
        if group in groups and (*group, master[1]) not in known:
            after_ns = change.by_ns - window.origin_ns
            least_ns = max(0, change.after_ns - window.returned_ns)
            yield Stage(
                *(facts.run, window.number, NEW_MASTER),
                reached=True,
                after_ns=after_ns,
                uncertainty_ns=after_ns - least_ns,
            )
            return


def _master_in(change: Change) -> tuple[str, str] | None:
    """Return a broker group and its master's address, if a change is about one."""
    broker = broker_in(change.what)
    return None if broker is None or broker.id else (broker.broker, broker.address)
