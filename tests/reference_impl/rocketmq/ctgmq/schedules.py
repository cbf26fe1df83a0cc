"""Random schedules of control nodes and replicas: what happens, and which promise it broke.

1. Everything comes from one seed. A schedule that finds something is played again by its number.
2. At its end all cuts are healed and all hosts run. Then every replica has to be in the set, the
   group has to confirm a number, and every log has to hold every number that a client takes for
   sent, or that a reader saw.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import Truncation
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.ctgmq.clusters import ReplicaCluster

TICK_MS = 250
STEPS = 20
PAUSE_MS = (5.0, 4_000.0)
HEALED_LIMIT_MS = 90_000
DRIFT = (0.9, 1.1)
LATENCIES_MAX_MS = (3.0, 30.0, 400.0)
STRANDED_MS = (4_000.0, 22_000.0)


@dataclass(frozen=True)
class Mode:
    """`flushes`: a message counts only on the disk, and then hosts may lose their power."""

    name: str
    replicas: int
    flushes: bool = False
    truncation: Truncation = Truncation.EPOCHS


CRASHES_2 = Mode("crashes-of-two", 2)
CRASHES_3 = Mode("crashes-of-three", 3)
POWER_2 = Mode("power-of-two", 2, flushes=True)
SLAVE_ACK_2 = Mode("slave-ack-of-two", 2, truncation=Truncation.SLAVE_ACK)
MODES = (CRASHES_2, CRASHES_3, POWER_2)
OF_SLAVE_ACK = (ReplicaRule.ASK_FIRST, ReplicaRule.FENCE_STATE)  # they protect what it cuts


def broken(mode: Mode, seed: int, *without: ReplicaRule) -> list[str]:
    """Return what a cluster broke of its promises."""
    return _Schedule(mode, seed, without).broken()


def found_by(rule: ReplicaRule) -> Mode:
    """Return the mode whose schedules are played to detect that this rule is switched off."""
    return SLAVE_ACK_2 if rule in OF_SLAVE_ACK else CRASHES_2


def schedules_until_found(mode: Mode, rule: ReplicaRule, first: int, limit: int) -> int | None:
    """Return how many schedules from that seed on it takes to detect that a rule is off; None:
    more than `limit`."""
    seeds = range(first, first + limit)
    found = next((seed for seed in seeds if broken(mode, seed, rule)), None)
    return None if found is None else found - first + 1


def losses(mode: Mode, seed: int, rule: ReplicaRule) -> set[int]:
    """Return the numbers that a client takes for sent, and that no log has at the end."""
    schedule = _Schedule(mode, seed, (rule,))
    schedule.play()
    return schedule.lost()


class _Schedule:
    def __init__(self, mode: Mode, seed: int, without: tuple[ReplicaRule, ...]) -> None:
        self._mode = mode
        self._dice = dice = random.Random(f"{mode.name} {seed}")
        self._world = World(seed, TICK_MS, dice.choice(LATENCIES_MAX_MS), kernels=True)
        self._cluster = ReplicaCluster(
            self._world,
            mode.replicas,
            flushes=mode.flushes,
            without=without,
            drift=lambda: dice.uniform(*DRIFT),
            truncation=mode.truncation,
        )
        self._number = self._healed_at = 0
        self._world.run(9_000)

    def broken(self) -> list[str]:
        watch, deeds = self._cluster.watch, self._deeds()
        for _ in range(STEPS):
            self._dice.choice(deeds)()
            self._world.run(self._dice.uniform(*PAUSE_MS))
            self._cluster.read()
            if watch.broken:
                return watch.broken
        return self._end()

    def play(self) -> None:
        """Play to the end, whatever is broken."""
        deeds = self._deeds()
        for _ in range(STEPS):
            self._dice.choice(deeds)()
            self._world.run(self._dice.uniform(*PAUSE_MS))
        self._end()

    def lost(self) -> set[int]:
        kept = [self._cluster.numbers(name) for name in self._cluster.names]
        return self._cluster.watch.confirmed.difference(*kept)

    def _end(self) -> list[str]:
        cluster, watch = self._cluster, self._cluster.watch
        self._mend()
        self._healed_at = self._number
        if not cluster.until(self._confirms, HEALED_LIMIT_MS):
            watch.broken.append("nothing is confirmed after all is mended")
        if not cluster.until(self._is_whole, HEALED_LIMIT_MS):
            watch.broken.append("the set is not whole after all is mended")
        cluster.read()
        logs = {name: cluster.numbers(name) for name in cluster.names}
        for name, numbers in logs.items():
            for kind, wanted in (("sent", watch.confirmed), ("read", watch.numbers_read())):
                if missing := wanted - {*numbers}:
                    watch.broken.append(f"{name} lacks what was {kind}: {sorted(missing)}")
            if numbers != logs[cluster.names[0]]:
                watch.broken.append(f"{name} differs from {cluster.names[0]}")
        return watch.broken

    def _deeds(self) -> list[Callable[[], None]]:
        deeds = [self._put] * 5
        deeds += [self._crash, self._crash_master, self._freeze, self._thaw, self._heal]
        deeds += [self._cut, self._isolate, self._crash_control, self._start, self._stop_master]
        deeds += [self._strand, self._strand_with_control, self._freeze_master, self._mend]
        deeds += [self._join_and_kill, self._deafen, self._revive, self._join_half]
        return deeds + [self._lose_power] * 3 if self._mode.flushes else deeds

    def _put(self) -> None:
        """Several, at every replica that takes itself for the master."""
        for _ in range(self._dice.randrange(1, 5)):
            for name in self._cluster.masters():
                self._number += 1
                self._cluster.put(name, self._number)
            self._world.run(self._dice.choice((0, 0, 2, 20)))

    def _crash(self) -> None:
        self._down(self._dice.choice(self._cluster.hosts), self._world.crash)

    def _crash_master(self) -> None:
        if self._cluster.master():
            self._down(self._cluster.master(), self._world.crash)

    def _crash_control(self) -> None:
        if self._cluster.control():
            self._down(self._cluster.control(), self._world.crash)

    def _lose_power(self) -> None:
        self._down(self._dice.choice(self._cluster.hosts), self._world.lose_power)

    def _down(self, name: str, how: Callable[[str], None]) -> None:
        """Or up, if it is down."""
        if self._world.hosts[name].server is None:
            self._world.start(name)
        else:
            how(name)

    def _stop_master(self) -> None:
        if self._cluster.master():
            self._cluster.stop(self._cluster.master())

    def _start(self) -> None:
        for name in self._cluster.hosts:
            if self._world.hosts[name].server is None:
                self._world.start(name)

    def _freeze(self) -> None:
        self._world.freeze(self._dice.choice(self._cluster.hosts))

    def _freeze_master(self) -> None:
        """It stands still with messages that wait, perhaps for longer than its lease."""
        self._mend()
        self._world.run(2_000)
        name = self._cluster.master()
        if name:
            self._put()
            self._world.freeze(name)
            self._world.run(self._dice.uniform(*STRANDED_MS))
            self._world.thaw(name)

    def _thaw(self) -> None:
        for name in self._cluster.hosts:
            if self._world.hosts[name].stands_still:
                self._world.thaw(name)

    def _cut(self) -> None:
        self._world.cut(*self._dice.sample(self._cluster.hosts, 2))

    def _isolate(self) -> None:
        """One host from all others, or from all but one; in one direction, or both."""
        name = self._dice.choice(self._cluster.hosts)
        others = [other for other in self._cluster.hosts if other != name]
        if self._dice.random() < 0.5:
            others.remove(self._dice.choice(others))
        way = self._dice.choice(("in", "out", "both", "both"))
        for other in others:
            if way != "in":
                self._world.cut(name, other)
            if way != "out":
                self._world.cut(other, name)

    def _deafen(self) -> None:
        """The master's octets arrive, and nothing comes back to it from the other replicas."""
        for name in self._cluster.masters():
            for other in self._cluster.names:
                if other != name:
                    self._world.cut(other, name)
        self._put()

    def _strand(self) -> None:
        """A master is cut off from the control nodes, or from all, with what it just put."""
        self._mend()
        name = self._cluster.master()
        if not name:
            return
        others = self._cluster.controls
        if self._dice.random() < 0.5:
            others = [other for other in self._cluster.hosts if other != name]
        self._cluster.isolate(name, *others)
        self._put()
        self._world.run(self._dice.uniform(*STRANDED_MS))
        self._put()

    def _strand_with_control(self) -> None:
        """A master and the leading control node are cut off from all others, together."""
        self._mend()
        name, control = self._cluster.master(), self._cluster.control()
        if not name or not control:
            return
        others = [other for other in self._cluster.hosts if other not in (name, control)]
        self._cluster.isolate(name, *others)
        self._cluster.isolate(control, *others)
        self._put()
        self._world.run(self._dice.uniform(*STRANDED_MS))
        self._put()

    def _join_and_kill(self) -> None:
        """A slave leaves the set and comes back under load; soon after its master dies."""
        name = self._cluster.master()
        others = [other for other in self._cluster.names if other != name]
        if not name or len(self._cluster.running()) < 2:
            return
        self._cluster.isolate(name, *others)
        for _ in range(4):
            self._put()
            self._world.run(2_000)
        self._cluster.heal()
        for _ in range(self._dice.randrange(60)):
            self._put()
            self._world.run(self._dice.choice((1, 10, 60)))
        if self._world.hosts[name].server is not None:
            self._world.crash(name)

    def _join_half(self) -> None:
        """A slave comes back, hears half of what it lacks, and then its master dies."""
        self._mend()
        self._world.run(3_000)
        name = self._cluster.master()
        other = self._dice.choice([other for other in self._cluster.names if other != name])
        if not name:
            return
        self._world.crash(other)
        self._world.run(3_000)
        self._put()
        self._put()
        self._world.run(1_000)
        self._world.start(other)
        self._world.run(self._dice.uniform(0, 1_600))
        self._world.cut(name, other)
        self._world.run(1_500)
        if self._world.hosts[name].server is not None:
            self._world.crash(name)
        self._world.run(self._dice.uniform(*STRANDED_MS))

    def _revive(self) -> None:
        """A master dies, and comes back where no control node hears of it."""
        name = self._cluster.master()
        if name:
            self._world.crash(name)
            self._world.run(self._dice.uniform(*STRANDED_MS))
            self._cluster.isolate(name, *self._cluster.controls)
            self._world.start(name)
            self._world.run(1_000)
            self._put()

    def _heal(self) -> None:
        self._cluster.heal()

    def _mend(self) -> None:
        self._cluster.heal()
        self._start()
        self._thaw()

    def _confirms(self) -> bool:
        """Put one number more; return whether one after the mending is confirmed."""
        if self._cluster.master():
            self._number += 1
            self._cluster.put(self._cluster.master(), self._number)
        self._world.run(1_000)
        return max(self._cluster.watch.confirmed, default=0) > self._healed_at

    def _is_whole(self) -> bool:
        """Whether all are in the set, and have the same log."""
        replicas = [self._cluster.replica(name) for name in self._cluster.names]
        ends = {replica.log.end for replica in replicas}
        members = {replica.state.members for replica in replicas}
        is_read = all(replica.visible == replica.log.end for replica in replicas)
        return len(ends) == 1 and is_read and members == {tuple(self._cluster.names)}
