"""The facts of generated runs, and the dice they and their rows are thrown with.

1. Times are multiples of a grain, which may be coarse, so that ties are common.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypedDict

from harness.plan.fault_properties import properties_of
from harness.workers.rocketmq.ways import ROCKETMQ_WAYS
from spark_analysis.schema.facts import (
    Absence,
    CompetingLeaders,
    Facts,
    LeadershipChange,
    Promise,
    QueueEnd,
    Window,
    Worker,
)
from spark_analysis.schema.operation_times import OperationTime

MS = 1_000_000
SECOND = 1_000 * MS
QUEUES: tuple[str, ...] = ("orders", "audit")
PUBLISHERS = (1, 2)
CONSUMERS = (11, 12)
IDLE = 13  # a consumer that never receives anything
PROBER = 21
KINDS = ("kill", "client_crash", "client_freeze")
DEADLINES = (20 * MS, 500 * MS, 2 * SECOND)


@dataclass(frozen=True)
class Style:
    """What kind of run it is; shares are in percent."""

    seed: int
    messages: int
    stretch: bool  # a long load, so that sustained success can be reached
    spells: bool  # a long load whose service comes and goes
    grain_ns: int
    load_s: int
    windows: int
    paced: bool
    confirms: bool
    calm: bool  # nearly nothing goes wrong
    flagged: int  # share of later copies that are flagged as redelivered
    offsets: bool
    logs_closed: int
    drained: int


class Dice:
    """Small choices, all from the seed of one run."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.random = Random(style.seed)
        self.start_ns = self.random.choice([0, 0, SECOND, 1_700 * MS])
        self.end_ns = self.start_ns + style.load_s * SECOND

    def often(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def mishap(self, percent: int) -> bool:
        """Whether a thing goes wrong; in a calm run it nearly never does."""
        rarity = (10 if self.style.calm else 1) * (10 if self.style.stretch else 1)
        return self.random.randrange(100 * rarity) < percent

    def time(self, low_ns: int | None = None, high_ns: int | None = None) -> int:
        low = self.start_ns if low_ns is None else low_ns
        high = self.end_ns if high_ns is None else high_ns
        steps = max(high - low, 0) // self.style.grain_ns
        return low + self.random.randint(0, steps) * self.style.grain_ns

    def soon(self, after_ns: int) -> int:
        """Mostly a moment later, at times seconds."""
        near = self.random.choice([0, MS, 20 * MS, 400 * MS])
        far = self.random.choice([SECOND, SECOND + 1, 3 * SECOND, 12 * SECOND])
        return after_ns + (far if self.mishap(8) else near)


def make_facts(dice: Dice) -> Facts:
    """What the harness knew of the run."""
    windows = _windows(dice)
    not_begun = _never_begun(dice, windows)
    workers = [
        *(Worker(n, "publisher", dice.often(dice.style.logs_closed)) for n in PUBLISHERS),
        *(Worker(n, "consumer", dice.often(dice.style.logs_closed)) for n in _consumers(dice)),
        Worker(PROBER, "prober", False),
    ]
    return Facts(
        run=f"run {dice.style.seed}",
        scenario=dice.random.choice(["kill", "partition"]),
        system=dice.random.choice(["a", "b"]),
        layout="small",
        client="amqp",
        repeat=1,
        load_started_ns=dice.start_ns,
        load_ended_ns=dice.end_ns,
        deadline_ns=2 * SECOND if dice.style.stretch else dice.random.choice(DEADLINES),
        paced=dice.style.paced,
        confirms=dice.style.confirms,
        clock_problem="suspended" if dice.often(8) else "",
        workers=tuple(workers),
        windows=tuple(one for one in windows if one.number not in not_begun),
        not_begun=tuple(_unbegun(one) for one in windows if one.number in not_begun),
        queues=tuple(_queue_end(dice, queue) for queue in QUEUES if dice.often(95)),
        competing_leaders=tuple(
            _competing_leaders(dice) for _ in range(dice.random.choice([0, 0, 1, 2]))
        ),
        absences=tuple(_absence(dice) for _ in range(dice.random.choice([0, 0, 0, 1, 2, 4]))),
        leadership_changes=tuple(_leadership_changes(dice.style.seed, dice)),
        operations=tuple(_operations(dice.style.seed, dice)),
        ways=ROCKETMQ_WAYS,
        **_agreed(dice),
    )


def _never_begun(dice: Dice, windows: Sequence[Window]) -> frozenset[int]:
    """With a die of its own: now and then one planned fault never began."""
    own = Random(f"never begun of {dice.style.seed}")
    numbers = [window.number for window in windows]
    return frozenset(own.sample(numbers, k=1) if numbers and own.random() < 0.1 else ())


def _unbegun(window: Window) -> Window:
    return replace(window, ended_ns=None, verified=False, gone=False, over_ns=None)


class _Agreed(TypedDict):
    acknowledges: bool
    reconnect_ns: int
    promises: tuple[Promise, ...]


def _agreed(dice: Dice) -> _Agreed:
    """What clients do, and what claims ask service by; with a die of its own as well."""
    own = Random(f"promises of {dice.style.seed}")
    names = own.sample(["notice", "poll", "timer"], k=own.choice([0, 0, 1, 2, 3]))
    after = [0, 500 * MS, SECOND, SECOND + 1, 3 * SECOND, 5 * SECOND]
    return {
        "acknowledges": own.random() < 0.85,
        "reconnect_ns": own.choice([0, 500 * MS, 2 * SECOND]),
        "promises": tuple(Promise(name, own.choice(after)) for name in names),
    }


def _consumers(dice: Dice) -> tuple[int, ...]:
    """With a die of their own: mostly all that receive anything, at times one that never does."""
    own = Random(f"consumers of {dice.style.seed}")
    return own.choice([CONSUMERS] * 10 + [(*CONSUMERS, IDLE), ()])


def _leadership_changes(seed: int, dice: Dice) -> Iterator[LeadershipChange]:
    """With a die of their own: the histories of runs without operations stay what they were."""
    own = Random(f"leadership changes of {seed}")
    span_ns = dice.end_ns - dice.start_ns
    for _ in range(own.choice([0, 0, 0, 1, 2])):
        origin_ns = dice.start_ns + own.randint(0, max(span_ns // MS, 0)) * MS
        lasts_ns = own.choice([None, 0, SECOND, 5 * SECOND])
        yield LeadershipChange(origin_ns, None if lasts_ns is None else origin_ns + lasts_ns)


def _operations(seed: int, dice: Dice) -> Iterator[OperationTime]:
    """With a die of their own; of most histories none, as of older runs."""
    own = Random(f"operations of {seed}")
    span_ns = dice.end_ns - dice.start_ns
    for _ in range(own.choice([0, 0, 0, 1, 2])):
        origin_ns = dice.start_ns + own.randint(0, max(span_ns // MS, 0)) * MS
        lasts_ns = own.choice([None, 0, SECOND, 5 * SECOND])
        over_ns = None if lasts_ns is None else origin_ns + lasts_ns
        yield OperationTime(origin_ns, over_ns, moves_leader=own.random() < 0.8)


def _windows(dice: Dice) -> tuple[Window, ...]:
    # A long load needs calm at its end, else no period of it can be good.
    latest = dice.end_ns + (2 * SECOND if dice.often(5) else 0)
    if dice.style.stretch:
        latest = dice.start_ns + (dice.end_ns - dice.start_ns) // 3
    origins = sorted(dice.time(high_ns=latest) for _ in range(dice.style.windows))
    # With a die of their own, too: what else is drawn stays what it was.
    kinds = Random(f"kinds of {dice.style.seed}").choices(
        ("kill", "client_crash", "client_freeze"), k=len(origins)
    )
    if len(origins) > 1 and dice.often(15):
        origins[1] = origins[0]  # two faults are made at once
    return tuple(
        _window(dice, number, kind, origin_ns)
        for number, (kind, origin_ns) in enumerate(zip(kinds, origins, strict=True), 1)
    )


def _window(dice: Dice, number: int, kind: str, origin_ns: int) -> Window:
    returned_ns = origin_ns + dice.random.choice([0, MS, 300 * MS, 2 * SECOND])
    ended_ns = returned_ns + dice.random.choice([0, SECOND, 5 * SECOND, 30 * SECOND])
    verified, gone = dice.often(85), dice.often(85)
    never = dice.often(20)
    return Window(
        number=number,
        kind=kind,
        origin_ns=origin_ns,
        returned_ns=returned_ns,
        ended_ns=None if never else ended_ns,
        verified=verified,
        gone=gone,
        unverified_reason="" if verified and gone else "not seen",
        over_ns=dice.time(returned_ns) if dice.often(40 if never else 80) else None,
        properties=properties_of(kind),
    )


def _queue_end(dice: Dice, queue: str) -> QueueEnd:
    drained = dice.often(dice.style.drained)
    return QueueEnd(
        queue=queue,
        ordered=dice.often(85),
        drained=drained,
        undrained_reason="" if drained else "timed out",
        unreadable=("node 3",) if dice.often(30) else (),
    )


def _competing_leaders(dice: Dice) -> CompetingLeaders:
    from_ns = dice.time()
    return CompetingLeaders(dice.random.choice(QUEUES), from_ns, dice.time(from_ns))


def _absence(dice: Dice) -> Absence:
    from_ns = dice.time()
    worker = dice.random.choice((*PUBLISHERS, *CONSUMERS, PROBER))
    return Absence(worker, from_ns, None if dice.often(20) else dice.time(from_ns))
