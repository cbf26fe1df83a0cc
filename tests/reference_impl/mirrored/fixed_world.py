"""A world for one process under test: its records change only by the test's hand."""

from reference_impl.metadata.tables import Group, Member, Tables
from reference_impl.mirrored.store import SEGMENT, Entry, Put
from reference_impl.pid import Pid
from reference_impl.protocol.connections import Described
from tests.reference_impl.mirrored.replaying import replayed

QUEUE = "q"


class FixedWorld:
    def __init__(self, node: str = "a", running: tuple[str, ...] = ("a", "b", "c")) -> None:
        self.node = node
        self.tables = Tables()
        self._running = running
        self._number = 100
        self.lasts_s: float | None = None
        self.segment_size = SEGMENT
        self.disk: list[Entry] = []  # what was written of the queue
        self.ms = 0

    def group(self, version: int, *members: Pid, dead: tuple[Pid, ...] = ()) -> None:
        """The record from now on."""
        listed = tuple(Member(pid, pid not in dead) for pid in members)
        self.tables.groups[QUEUE] = Group(QUEUE, version, listed)

    def running(self) -> tuple[str, ...]:
        return self._running

    def well_known(self, node: str, number: int) -> Pid | None:
        return Pid(node, 1, number) if node in self._running else None

    def alive(self, pid: Pid) -> bool:
        return pid.node in self._running

    def alarms(self) -> dict[str, frozenset[str]]:
        return {}

    def now_ms(self) -> int:
        return self.ms

    def guarded(self) -> bool:
        return False

    def new_pid(self) -> Pid:
        self._number += 1
        return Pid(self.node, 1, self._number)

    def connections(self) -> tuple[Described, ...]:
        return ()

    def partitions(self) -> tuple[str, ...]:
        return ()

    def memory_lasts_s(self) -> float | None:
        return self.lasts_s

    def stored(self, queue: str) -> tuple[int, ...]:
        return tuple(sorted({number // self.segment_size for number in replayed(self.disk)}))

    def segment(self, queue: str, number: int) -> dict[int, Put]:
        return {
            it: put for it, put in replayed(self.disk).items() if it // self.segment_size == number
        }
