"""Duties of a node by a queue's record (docs/behaviour/rabbitmq.md items 3 to
7, 13, 43-50).

1. The node of a living master keeps its mirrors as policy wants them. One that was requested and
   is not listed yet counts as there, so that chance decides only once.
2. A queue without a living master is left to its mirrors as long as one lives that may take over.
   Else its home has it again from its disk, if it is durable; any other is forgotten.
3. Where the home does not run, the first of the running nodes notes that the queue is down, or
   the one whose replica was the last: others cannot see the end of a process there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from reference_impl.metadata.governing import governing
from reference_impl.metadata.records import ForgetQueue, LoseMaster, may_take_over, replicas
from reference_impl.metadata.tables import Queue, Tables
from reference_impl.mirrored.placement import Placed, suggested
from reference_impl.pid import Pid
from reference_impl.process import World


@dataclass(frozen=True, slots=True)
class Changes:
    """Nodes that are to get a mirror, mirrors that are to end, and whether the master is to."""

    missing: tuple[str, ...] = ()
    surplus: tuple[Pid, ...] = ()
    master_leaves: bool = False


class Restart:
    """The queue is to be started from this node's disk."""


def changes(
    tables: Tables, record: Queue, requested: Sequence[str], running: Sequence[str], chance: Random
) -> Changes:
    """Of a queue whose master lives."""
    assert record.master is not None, record
    here = record.master.node
    listed = [pid.node for pid in record.mirrors]
    mirrors = (*listed, *(node for node in requested if node not in listed))
    placed = Placed(here, mirrors, tuple(pid.node for pid in record.synchronised))
    wanted = suggested(governing(tables, record), placed, running, chance)
    nodes = {wanted.master, *wanted.mirrors}
    return Changes(
        missing=tuple(node for node in wanted.mirrors if node not in mirrors and node != here),
        surplus=tuple(pid for pid in record.mirrors if pid.node not in nodes),
        master_leaves=wanted.master != here and bool(record.mirrors),
    )


def recovery(world: World, record: Queue) -> Restart | ForgetQueue | LoseMaster | None:
    """Of a queue whose master does not live."""
    living = [pid for pid in record.mirrors if world.alive(pid)]
    if living and may_take_over(world.tables, record):
        return None
    if record.home == world.node:
        return Restart() if record.durable else ForgetQueue(record.name, record.master)
    running = world.running()
    gone = tuple(pid for pid in replicas(record) if not world.alive(pid))
    if record.home in running or not gone or living:
        return None
    if world.node not in (running[0], *(pid.node for pid in gone)):
        return None
    return LoseMaster(record.name, gone, running)
