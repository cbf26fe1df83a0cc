"""A group's record as one member sees it: neighbours and aliases (docs/behaviour/rabbitmq.md 3.1).

1. Neighbours are the nearest living members in the record's order, which is a circle.
2. Dead members between two living ones are aliases of the next living one: it inherits what is
   left to do for them.
"""

from dataclasses import dataclass

from reference_impl.metadata.tables import Group
from reference_impl.pid import Pid


@dataclass(frozen=True, slots=True)
class View:
    version: int
    left: Pid
    right: Pid
    aliases: tuple[Pid, ...]  # of this member
    living: tuple[Pid, ...]
    known: tuple[Pid, ...]  # the dead included

    @property
    def alone(self) -> bool:
        return len(self.living) == 1


def lone_view(me: Pid) -> View:
    """Before the record is there: older than any."""
    return View(-1, me, me, (), (me,), (me,))


def view_of(group: Group, me: Pid) -> View | None:
    """None where this one is no member, or is taken for dead."""
    living = tuple(member.pid for member in group.members if member.alive)
    if me not in living:
        return None
    at = living.index(me)
    return View(
        version=group.version,
        left=living[at - 1],
        right=living[(at + 1) % len(living)],
        aliases=_aliases(group, me),
        living=living,
        known=tuple(member.pid for member in group.members),
    )


def _aliases(group: Group, me: Pid) -> tuple[Pid, ...]:
    pids = [member.pid for member in group.members]
    dead: list[Pid] = []
    at = pids.index(me) - 1
    while not group.members[at].alive:  # a negative place counts from the end: a circle
        dead.append(pids[at])
        at -= 1
    return tuple(reversed(dead))
