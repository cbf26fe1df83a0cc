"""A cluster that serves, for tests that tell one case, and how to bring it there."""

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import Truncation
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.ctgmq.clusters import ReplicaCluster

TICK_MS = 100
LEASE_OVER_MS = 7_500
ELECTED_LIMIT_MS = 20_000


class Stage:
    """`master`, `slave`: of the first epoch. `numbers` are put one after the other."""

    def __init__(
        self,
        *without: ReplicaRule,
        replicas: int = 2,
        controls: int = 3,
        truncation: Truncation = Truncation.EPOCHS,
        min_in_sync: int = 1,
    ) -> None:
        self.world = World(1, TICK_MS, kernels=True)
        self.cluster = ReplicaCluster(
            self.world,
            replicas,
            controls,
            without=without,
            truncation=truncation,
            min_in_sync=min_in_sync,
        )
        self.watch = self.cluster.watch
        assert self.cluster.until(self.is_whole, 20_000), "the set is not whole"
        self.master = self.cluster.master()
        self.slave = next(name for name in self.cluster.names if name != self.master)
        self.number = 0
        self.put()
        self.run(500)
        assert self.watch.confirmed == {1}

    def is_whole(self) -> bool:
        master = self.cluster.master()
        members = self.cluster.replica(master).state.members if master else ()
        return members == tuple(self.cluster.names)

    def run(self, milliseconds: float) -> None:
        self.world.run(milliseconds)

    def put(self, name: str = "", count: int = 1) -> int:
        """Put numbers at that replica, or at the first master; return the last one."""
        for _ in range(count):
            self.number += 1
            self.cluster.put(name or self.master, self.number)
        return self.number

    def cut(self, source: str, target: str) -> None:
        self.world.cut(source, target)

    def isolate(self, name: str, *others: str) -> None:
        self.cluster.isolate(name, *others)

    def isolate_from_controls(self, name: str) -> None:
        self.cluster.isolate(name, *self.cluster.controls)

    def crash(self, *names: str) -> None:
        for name in names:
            self.world.crash(name)

    def start(self, *names: str) -> None:
        for name in names:
            self.world.start(name)

    def heal(self) -> None:
        self.cluster.heal()

    def elected(self, name: str, limit_ms: float = ELECTED_LIMIT_MS) -> bool:
        """Whether that one becomes the master within that time."""
        return self.cluster.until(lambda: self.cluster.master() == name, limit_ms)

    def shrink(self) -> None:
        """The slave leaves the set, as nothing comes to it; then it does again."""
        self.isolate(self.master, self.slave)
        self.put()
        assert self.cluster.until(lambda: self.members == (self.master,), 15_000)
        self.run(500)

    @property
    def members(self) -> tuple[str, ...]:
        return self.cluster.replica(self.master).state.members

    def is_confirmed(self, number: int) -> bool:
        return number in self.watch.confirmed

    def lost(self) -> set[int]:
        """Numbers that a client takes for sent, and that the last master does not have."""
        return self.watch.confirmed - {*self.cluster.numbers(self.cluster.master())}
