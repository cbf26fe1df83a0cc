"""Random schedules of a group: what happens to its members, and which promise it broke.

1. Everything comes from one seed. A schedule that finds something is played again by its number.
2. At its end all cuts are healed and all members run. Then the group has to confirm a number, and
   every log has to hold every number that was ever confirmed.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.simulator.world import Stalls, World
from tests.reference_impl.rocketmq.dledger.groups import LEADERLESS_LIMIT_MS, DledgerGroup

TICK_MS = 100
STEPS = 20
PAUSE_MS = (5.0, 4_000.0)
ELECTION_LIMIT_MS = 60_000
DRIFT = (0.9, 1.1)
LATENCIES_MAX_MS = (3.0, 30.0, 400.0)
STALLS = (None, None, Stalls(0.1, 4_000.0, 10_000.0))  # of the connections of a schedule
ON_RETURN = Stalls(0.15, 5_000.0, 10_000.0)  # while a stranded member returns
CALM_MS, CALM_STEPS = 10_000.0, 4
RETURNS_MS = (3_000.0, 6_000.0)
STRANDED_MS = (4_000.0, 14_000.0)


@dataclass(frozen=True)
class Mode:
    """`flushes`: an entry counts only on the disk, and then members may lose their power."""

    name: str
    size: int
    flushes: bool


CRASHES_3 = Mode("crashes-of-three", 3, flushes=False)
CRASHES_5 = Mode("crashes-of-five", 5, flushes=False)
POWER_3 = Mode("power-of-three", 3, flushes=True)
MODES = (CRASHES_3, CRASHES_5, POWER_3)


def broken(mode: Mode, seed: int, without: Rule | None = None) -> list[str]:
    """Return what a group broke of its promises."""
    return _Schedule(mode, seed, without).broken()


def found_by(rule: Rule) -> Mode:
    """Return the mode whose schedules detect that this rule is switched off."""
    loses_power = rule in (Rule.FLUSH_FIRST, Rule.GIVE_WAY)
    return POWER_3 if loses_power else CRASHES_3


def schedules_until_found(mode: Mode, rule: Rule, first: int, limit: int) -> int | None:
    """Return how many schedules from that seed on it takes to detect that a rule is off; None:
    more than `limit`."""
    seeds = range(first, first + limit)
    found = next((seed for seed in seeds if broken(mode, seed, rule)), None)
    return None if found is None else found - first + 1


def losses(mode: Mode, seed: int, rule: Rule) -> tuple[set[int], set[int]]:
    """Return the confirmed numbers that no log has at the end of a schedule, and those that
    members admit to have cut."""
    schedule = _Schedule(mode, seed, rule)
    schedule.play()
    return schedule.lost(), schedule.admitted


class _Schedule:
    def __init__(self, mode: Mode, seed: int, without: Rule | None) -> None:
        self._mode = mode
        self._dice = dice = random.Random(f"{mode.name} {seed}")
        self._stalls = dice.choice(STALLS)
        self._world = World(seed, TICK_MS, dice.choice(LATENCIES_MAX_MS), self._stalls)
        self._group = DledgerGroup(
            self._world, mode.size, mode.flushes, without, drift=lambda: dice.uniform(*DRIFT)
        )
        self._number = self._mended = 0
        self._alone_ms: dict[str, float] = {}
        self._world.run(3_000)

    def broken(self) -> list[str]:
        """Play until a promise is broken, or to the end."""
        deeds = self._deeds()
        for _ in range(STEPS):
            self._step(deeds)
            if self._group.watch.broken:
                return self._group.watch.broken
        return self._end()

    def play(self) -> None:
        """Play to the end, whatever is broken."""
        deeds = self._deeds()
        for _ in range(STEPS):
            self._step(deeds)
        self._end()

    def lost(self) -> set[int]:
        kept = [self._group.numbers(name) for name in self._group.names]
        return self._group.watch.confirmed.difference(*kept)

    @property
    def admitted(self) -> set[int]:
        return self._group.watch.admitted

    def _step(self, deeds: list[Callable[[], None]]) -> None:
        self._dice.choice(deeds)()
        self._notice_lonely_leaders()
        self._world.run(self._dice.uniform(*PAUSE_MS))
        self._find_lonely_leaders()

    def _end(self) -> list[str]:
        group = self._group
        self._world.stalls = None
        self._mend()
        self._mended = self._number
        if not group.until(self._confirms, ELECTION_LIMIT_MS):
            group.watch.broken.append("nothing is confirmed after all is mended")
        group.until(self._is_equal, ELECTION_LIMIT_MS)
        group.watch.broken += group.mismatches()
        for name in group.names:
            missing = group.watch.confirmed - {*group.numbers(name)}
            if missing:
                group.watch.broken.append(f"{name} lacks {sorted(missing)}")
        return group.watch.broken

    def _deeds(self) -> list[Callable[[], None]]:
        deeds = [self._append] * 4
        deeds += [self._crash, self._crash_leader, self._freeze, self._thaw, self._heal]
        deeds += [self._cut, self._isolate, self._isolate_leader, self._start]
        deeds += [self._strand] * 3 + [self._return]
        return deeds + [self._lose_power] * 3 if self._mode.flushes else deeds

    def _append(self) -> None:
        """Several, at every member that takes itself for the leader."""
        for _ in range(self._dice.randrange(1, 4)):
            for name in self._group.leaders():
                self._number += 1
                self._group.append(name, self._number)
            self._world.run(self._dice.choice((0, 0, 2, 20)))

    def _crash(self) -> None:
        self._down(self._dice.choice(self._group.names), self._world.crash)

    def _crash_leader(self) -> None:
        if self._group.leader():
            self._down(self._group.leader(), self._world.crash)

    def _lose_power(self) -> None:
        self._down(self._dice.choice(self._group.names), self._world.lose_power)

    def _down(self, name: str, how: Callable[[str], None]) -> None:
        """Or up, if it is down."""
        if self._group.server(name) is None:
            self._world.start(name)
        else:
            how(name)

    def _start(self) -> None:
        for name in self._group.names:
            if self._group.server(name) is None:
                self._world.start(name)

    def _freeze(self) -> None:
        self._world.freeze(self._dice.choice(self._group.names))

    def _thaw(self) -> None:
        for name in self._group.names:
            if self._world.hosts[name].stands_still:
                self._world.thaw(name)

    def _cut(self) -> None:
        self._world.cut(*self._dice.sample(self._group.names, 2))

    def _isolate(self) -> None:
        self._alone(self._dice.choice(self._group.names))

    def _isolate_leader(self) -> None:
        if self._group.leader():
            self._alone(self._group.leader())

    def _strand(self) -> None:
        """A leader is cut off with what it just appended, and all others meet again."""
        name = self._group.leader()
        if not name:
            return
        self._mend()
        for other in self._group.names:
            if other != name:
                self._world.cut(name, other)
                self._world.cut(other, name)
        self._number += 1
        self._group.append(name, self._number)
        self._world.run(self._dice.uniform(*STRANDED_MS))

    def _return(self) -> None:
        """A stranded leader comes back, and connections stall while it is brought up to date.
        Then nothing happens until what stalled has come."""
        self._strand()
        self._world.run(STRANDED_MS[0])
        self._mend()
        self._world.stalls = ON_RETURN
        self._world.run(self._dice.uniform(*RETURNS_MS))
        self._world.stalls = None
        for _ in range(CALM_STEPS):
            self._append()
            self._world.run(CALM_MS / CALM_STEPS)
        self._world.stalls = self._stalls

    def _alone(self, name: str) -> None:
        """Cut from all others, or from all but one; in one direction, or both."""
        others = [other for other in self._group.names if other != name]
        if self._dice.random() < 0.5:
            others.remove(self._dice.choice(others))
        way = self._dice.choice(("in", "out", "both", "both"))
        for other in others:
            if way != "in":
                self._world.cut(name, other)
            if way != "out":
                self._world.cut(other, name)

    def _heal(self) -> None:
        for pair in [*self._world.network.cuts]:
            self._world.heal(*pair)

    def _mend(self) -> None:
        self._heal()
        self._start()
        self._thaw()

    def _confirms(self) -> bool:
        """Append one number more; return whether one after the mending is confirmed."""
        if self._group.leader():
            self._number += 1
            self._group.append(self._group.leader(), self._number)
        self._world.run(1_000)
        return max(self._group.watch.confirmed, default=0) > self._mended

    def _is_equal(self) -> bool:
        ledgers = [self._group.member(name).ledger for name in self._group.names]
        ends = {(one.end_index, one.end_term, one.committed_index) for one in ledgers}
        return len(ends) == 1 and all(one.committed_index == one.end_index for one in ledgers)

    def _notice_lonely_leaders(self) -> None:
        """From which moment on each member has been without a majority, and has not stood
        still."""
        now_ms, group = self._world.time.ms, self._group
        for name in group.names:
            still = self._world.hosts[name].stands_still
            if group.server(name) is None or still or group.reaches_majority(name):
                self._alone_ms.pop(name, None)
            else:
                self._alone_ms.setdefault(name, now_ms)

    def _find_lonely_leaders(self) -> None:
        now_ms = self._world.time.ms
        for name in self._group.leaders():
            since_ms = self._alone_ms.get(name, now_ms)
            if now_ms - since_ms > LEADERLESS_LIMIT_MS:
                self._group.watch.broken.append(f"{name} leads without a majority")
