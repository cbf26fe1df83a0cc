"""The cause of recovered service: the system, or the end of the fault that service returned under.

1. Publishes that a fault held back in its last seconds are in time once it is over. So service
   seems to begin a deadline before its end, and earlier if little was held back.
2. It is the system's if publishes of its first stretch, sent into the fault, and their deadlines,
   were over before the undo began, and were good by themselves. They must be as many as are a
   stretch; or as many as are evidence, if nothing that came up to half a deadline before the undo
   waited when it began. It is the system's, too, if all of that stretch was confirmed before.
3. It is the undo's if it seems to begin about a deadline before that, and still went wrong shortly
   before. Then too many of the publishes intended from three quarters to half a deadline before
   the undo waited when it began, and none that waited so long was confirmed in time before.
4. It is the undo's, too, if a quarter of the publishes due from its beginning until the undo was
   bad, and two at least: a brown-out looks good once few bad ones are left.
5. It is the undo's, too, if enough publishes were due in the last deadline before the undo, and
   from its beginning on, and none of them was confirmed before the undo.
6. Else it may be either's.
"""

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import EITHER, SYSTEM, UNDO, allowance
from tests.oracle.forces import Force
from tests.oracle.publishes import Publish
from tests.oracle.scopes import Scope
from tests.oracle.stretches import end_from, few_bad


def recovered_by(facts: Facts, scope: Scope, begins: int, force: Force, undo_ns: int) -> str:
    """Return the cause of service that begins with that publish of the scope, before the undo was
    issued."""
    # A fault that takes long to make lets the system serve meanwhile: that is no success.
    start = scope.before(max(scope.intended_ns[begins], force.returned_ns))
    if start < scope.size and _by_itself(facts, scope, start, undo_ns):
        return SYSTEM
    if _waited(scope, scope.intended_ns[begins], undo_ns, facts.deadline_ns):
        return UNDO
    undone = scope.before(undo_ns)
    if scope.bad(begins, undone) * 4 >= max(8, undone - begins):
        return UNDO
    from_ns = min(scope.intended_ns[begins], undo_ns - facts.deadline_ns)
    return UNDO if _silent(scope, max(from_ns, force.returned_ns), undo_ns) else EITHER


def _by_itself(facts: Facts, scope: Scope, start: int, undo_ns: int) -> bool:
    end = end_from(scope, start)
    decided = min(end, scope.before(undo_ns - facts.deadline_ns))
    if few_bad(scope, start, decided):
        if decided - start >= scope.least:
            return True
        young = min(end, scope.before(undo_ns - facts.deadline_ns // 2))
        if decided - start >= scope.enough and _confirmed(scope, start, young, undo_ns):
            return True
    return end <= scope.size and _confirmed(scope, start, end, undo_ns)


def _confirmed(scope: Scope, start: int, end: int, undo_ns: int) -> bool:
    """Return whether few at the places [start, end) were bad, or not confirmed before the undo."""
    those = scope.publishes[start:end]
    late = sum(one.missed or not one.confirmed_before(undo_ns) for one in those)
    return late <= allowance(end - start)


def _waited(scope: Scope, from_ns: int, undo_ns: int, deadline_ns: int) -> bool:
    """Return whether service that is to have begun at `from_ns` was none shortly before the
    undo."""
    first_ns, until_ns = undo_ns - deadline_ns * 3 // 4, undo_ns - deadline_ns // 2
    if not undo_ns - deadline_ns * 3 // 2 <= from_ns <= first_ns:
        return False
    end = scope.before(until_ns)
    late = scope.publishes[scope.before(first_ns) : end]
    waiting = sum(not one.confirmed_before(undo_ns) for one in late)
    before = scope.publishes[scope.before(from_ns) : end]
    slow = any(_slow(one, undo_ns, deadline_ns) for one in before)
    return waiting > allowance(max(len(late), scope.least)) and not slow


def _silent(scope: Scope, from_ns: int, undo_ns: int) -> bool:
    """Return whether enough were due from then until the undo, and none was confirmed before."""
    due = scope.publishes[scope.before(from_ns) : scope.before(undo_ns)]
    return len(due) >= scope.enough and not any(one.confirmed_before(undo_ns) for one in due)


def _slow(publish: Publish, undo_ns: int, deadline_ns: int) -> bool:
    """Return whether it was in time without the undo, if only after half of its deadline."""
    half_ns = publish.intended_ns + deadline_ns // 2
    in_time = publish.confirmed_before(undo_ns) and not publish.missed
    return in_time and not publish.confirmed_before(half_ns)
