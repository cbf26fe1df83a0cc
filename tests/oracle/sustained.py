"""Sustained success: where service of the whole run begins after a fault. A milestone, no verdict.

1. It is the first beginning of a good stretch within the window's judged time.
2. Where there is none, it may have begun with a good publish whose stretch the end of load cut
   off, or which went well until a later fault spoiled it.
"""

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import EITHER, allowance
from tests.oracle.forces import Force
from tests.oracle.outages import History
from tests.oracle.recovered_by import recovered_by
from tests.oracle.stretches import end_from, whole_from


def stage(facts: Facts, history: History, force: Force) -> Stage:
    """`history`: the run's."""
    begins = history.first_beginning(force.origin_ns, force.limit_ns)
    if begins is None:
        at_ns, by = _could_ns(facts, history, force), ""
    else:
        at_ns, by = history.scope.intended_ns[begins], _recovered_by(facts, history, force, begins)
    return Stage(
        facts.run,
        force.number,
        "sustained_success",
        begins is not None,
        at_ns - force.origin_ns,
        force.returned_ns - force.origin_ns,
        by,
    )


def _recovered_by(facts: Facts, history: History, force: Force, begins: int) -> str:
    if force.window.ended_ns is None or force.undone_by(history.scope.intended_ns[begins]):
        return ""
    if force.undo_ns is None:
        return EITHER
    return recovered_by(facts, history.scope, begins, force, force.undo_ns)


def _could_ns(facts: Facts, history: History, force: Force) -> int:
    """From when on it could have been sustained."""
    scope = history.scope
    known = scope.before(force.limit_ns)
    for place in range(scope.before(force.origin_ns), known):
        if scope.publishes[place].missed:
            continue
        end = end_from(scope, place)
        spoiled = known < end and scope.bad(place, known) <= allowance(end - place)
        if spoiled or not whole_from(facts, scope, place):
            return scope.intended_ns[place]
    return force.limit_ns
