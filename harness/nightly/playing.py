"""One night, play after play: which items fit into it, what was begun, what came of it.

1. Each step is on record before the next one. Who is started again in a night that is not over
   goes on in it: what was played is not played again, and of what was broken off the runs that
   were recorded are judged.
2. No play begins after the night's end; the last is played out. What did not come to be played, or
   found the machine busy, is on record with the reason.
3. A play in which nothing was decided is repeated once, and both count.
4. What matters most is planned first: what alarmed in its last night, then what was never judged,
   then what changed since it was, then the rest: by the nights since, times the item's risk.
5. Of an item as many plays are planned as fit. The others are left out, with the reason, and a
   shorter item that is less urgent may still fit.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from msgspec.structs import replace
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from harness.judging import verdict_file
from harness.judging.exits import Exit
from harness.nightly import record
from harness.nightly.record import Night, PlannedCell, Played
from harness.nightly.suite import Item, Suite
from harness.outside.files import is_file, is_folder
from harness.plan.model import Cell
from harness.plan.problems import PlanError

MORE_S = 90.0  # what a play takes beyond load and settle, if none was played yet
SPARE = 1  # plays of a cell more than planned, where plays decided nothing
TIME_UP = "the night was over"
NO_MORE = "it stands in the suite no more"

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NightEnvironment:
    """`name`: of an experiment that begins now. `play`: one of that name into a folder, by words
    of `mqproof run`; its exit code. `analyse`: one experiment's folder. `look`: the share of the
    machine that is busy; raises Unknown."""

    now: Callable[[], datetime]
    name: Callable[[], str]
    play: Callable[[Path, str, Sequence[str], Log], int]
    analyse: Callable[[Path, Log], int]
    look: Callable[[], float]


@dataclass(frozen=True, slots=True)
class NightRequest:
    """What the command line adds to a suite. `changed`: systems."""

    name: str  # of a night that begins now
    label: str = ""
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier nights know of a cell. `nights_ago`: since it was judged; None: it never was.
    `digest`: of the cell as it was judged then."""

    nights_ago: int | None
    digest: str
    alarmed: bool


NOTHING = Past(None, "", alarmed=False)


def fitting(
    items: Sequence[Item],
    past: Mapping[Cell, Past],
    estimates_s: Mapping[Cell, float],
    night_s: float,
    changed: Sequence[str] = (),
) -> tuple[tuple[PlannedCell, ...], tuple[PlannedCell, ...]]:
    """Return what is played, in this order, and what does not fit, the most urgent first.
    `estimates_s`: of one play. `changed`: systems that the user says have changed."""
    known = {item.cell: past.get(item.cell, NOTHING) for item in items}
    urgency = {item.cell: _urgency(item, known[item.cell], changed) for item in items}

    def rank(item: Item) -> tuple[int, float, Cell]:
        age = (known[item.cell].nights_ago or 0) * item.weight
        return urgency[item.cell][0], -(age or item.weight / 10), item.cell

    chosen: list[PlannedCell] = []
    left_out: list[PlannedCell] = []
    left_s = night_s
    for item in sorted(items, key=rank):
        each_s = estimates_s[item.cell]
        fit = min(item.plays, int(left_s // each_s))
        left_s -= fit * each_s
        for listed, plays in ((chosen, fit), (left_out, item.plays - fit)):
            if plays:
                estimate_s = plays * each_s
                _, reason = urgency[item.cell]
                listed.append(PlannedCell(item.cell, plays, reason, estimate_s, item.digest))
    return tuple(chosen), tuple(left_out)


def _urgency(item: Item, past: Past, changed: Sequence[str]) -> tuple[int, str]:
    """Return how urgent an item is, the lower, the sooner; and the reason."""
    if past.alarmed:
        return 0, "it alarmed when it was last judged"
    if past.nights_ago is None:
        return 1, "it was never judged"
    if past.digest != item.digest or item.cell[1] in changed:
        whose = item.cell[1] if item.cell[1] in changed else "its scenario or layout"
        return 2, f"{whose} changed since it was judged"
    return 3, f"it was judged {past.nights_ago} night{'' if past.nights_ago == 1 else 's'} ago"


def begun(suite: Suite, request: NightRequest, before: Sequence[Night], now: datetime) -> Night:
    """A night as it is planned now; nothing is played yet."""
    before = [night for night in before if not night.is_rehearsal]
    past = {item.cell: _past(item.cell, before) for item in suite.items}
    estimates_s = {item.cell: _estimate_s(item, before) for item in suite.items}
    planned, left_out = fitting(suite.items, past, estimates_s, suite.night_s, request.changed)
    return Night(
        name=request.name,
        title=suite.title,
        label=request.label,
        began=now.isoformat(timespec="seconds"),
        ends=(now + timedelta(seconds=suite.night_s)).isoformat(timespec="seconds"),
        planned=planned,
        left_out=left_out,
    )


def unfinished(before: Sequence[Night]) -> Night | None:
    """The night that somebody broke off, if it is the last."""
    return before[-1] if before and before[-1].exit_code is None else None


def played(folder: Path, suite: Suite, night: Night, world: NightEnvironment, log: Log) -> Night:
    """The night with all that could be played of it. On record after each step."""
    night = _mended(folder, night, world, log)
    items = {item.cell: item for item in suite.items}
    while (todo := _next(night)) is not None:
        if world.now() >= datetime.fromisoformat(night.ends):
            log(f"{TIME_UP}: {' · '.join(todo.cell)} is not played")
            break
        night = _one(folder, suite, night, todo.cell, items.get(todo.cell), world, log)
    return night


def left(night: Night) -> Iterator[PlannedCell]:
    """What was planned and not judged as often."""
    for planned in night.planned:
        if sum(one.judged for one in night.plays_of(planned.cell)) < planned.plays:
            yield planned


def _next(night: Night) -> PlannedCell | None:
    """In the order of the plan."""
    plays = ((planned, len(night.plays_of(planned.cell))) for planned in left(night))
    return next((one for one, number in plays if number < one.plays + SPARE), None)


def _one(
    folder: Path,
    suite: Suite,
    night: Night,
    cell: Cell,
    item: Item | None,
    world: NightEnvironment,
    log: Log,
) -> Night:
    now = world.now()
    one = Played(cell, now.isoformat(timespec="seconds"))
    if item is None:  # the file has changed since the night began
        return _added(folder, night, replace(one, exit_code=Exit.NOT_DECIDED, why=NO_MORE))
    if busy := wait(suite.busy, suite.wait_s, world.look):
        log(f"{' · '.join(cell)} is not played: {busy}")
        return _added(folder, night, replace(one, exit_code=Exit.NOT_DECIDED, why=busy))
    # Somebody else may begin an experiment in this folder meanwhile: that is none of the night's.
    one = replace(one, experiment=world.name(), misbehave=item.misbehave)
    night = _added(folder, night, one)
    code = world.play(folder, one.experiment, item.words, log)
    seconds = (world.now() - now).total_seconds()
    return _last_is(folder, night, _ended(folder, one, code, seconds))


def _ended(folder: Path, one: Played, code: int, seconds: float) -> Played:
    experiment = one.experiment if is_folder(folder / one.experiment) else ""
    why = "" if experiment else f"it left no experiment behind (exit code {code})"
    judged = bool(experiment) and _is_judged(folder / experiment, one.cell)
    if experiment and not is_file(folder / experiment / verdict_file.NAME):
        why = f"it ended before it was judged (exit code {code})"
    return replace(
        one, experiment=experiment, seconds=seconds, exit_code=code, judged=judged, why=why
    )


def _mended(folder: Path, night: Night, world: NightEnvironment, log: Log) -> Night:
    """Judge what was recorded of a play whose end was not recorded."""
    if not night.played or night.played[-1].exit_code is not None:
        return night
    one = night.played[-1]
    path = folder / one.experiment
    if not one.experiment or not is_folder(path):
        why = "it was broken off before anything was recorded"
        one = replace(one, experiment="", exit_code=Exit.NOT_DECIDED, why=why)
        return _last_is(folder, night, one)
    log(f"{one.experiment} was broken off: what was recorded is judged")
    done = (path / verdict_file.NAME).exists()
    code = Exit.NOT_DECIDED if done else world.analyse(path, log)
    one = replace(one, exit_code=code, why="it was broken off")
    return _last_is(folder, night, replace(one, judged=_is_judged(path, one.cell)))


def _is_judged(experiment: Path, cell: Cell) -> bool:
    """Whether a promise was decided there; what cannot be read decides nothing."""
    try:
        side = verdict_file.joined("", [experiment / verdict_file.NAME])
    except PlanError:
        return False
    return cell in side.cells and side.cells[cell].decided > 0


def _added(folder: Path, night: Night, one: Played) -> Night:
    night = replace(night, played=(*night.played, one))
    record.save(folder, night)
    return night


def _last_is(folder: Path, night: Night, one: Played) -> Night:
    return _added(folder, replace(night, played=night.played[:-1]), one)


def _past(cell: Cell, before: Sequence[Night]) -> Past:
    for ago, night in enumerate(reversed(before), start=1):
        if any(one.judged for one in night.plays_of(cell)):
            digests = {one.cell: one.digest for one in night.planned}
            alarmed = any(one.cell == cell for one in night.alarms)
            return Past(ago, digests.get(cell, ""), alarmed)
    return NOTHING


def _estimate_s(item: Item, before: Sequence[Night]) -> float:
    """Of one play: what plays took before."""
    took = [one.seconds for night in before for one in night.plays_of(item.cell) if one.judged]
    return median(took) if took else item.load_s + MORE_S


LOOK_S, AGAIN_S = 3.0, 15.0
STAT = Path("/proc/stat")
_IDLE = (3, 4)  # columns: idle, and waiting for a disk that somebody else may use


class Unknown(Exception):
    """The reason why the load of the machine is unknown."""


def ticks(text: str) -> tuple[int, int]:
    """Return how long all cores idled, and their whole time, since they were started. The first
    line of /proc/stat (proc_stat(5)) sums over cores. Guests' time is in user's."""
    word, *columns = text.partition("\n")[0].split() or [""]
    if word != "cpu" or len(columns) < 8 or not all(one.isdigit() for one in columns):
        raise Unknown(f"{STAT} has no line of all cores")
    numbers = [int(one) for one in columns[:8]]
    return sum(numbers[column] for column in _IDLE), sum(numbers)


def busy(pause: Callable[[float], None], stat: Path = STAT) -> float:
    """The share of all cores' time that was used just now. Raises Unknown."""
    try:
        idle_before, before = ticks(stat.read_text())
        pause(LOOK_S)
        idle_after, after = ticks(stat.read_text())
    except OSError as error:
        raise Unknown(f"{stat}: {error.strerror}") from None
    passed = after - before
    return 1 - (idle_after - idle_before) / passed if passed else 0.0


def wait(share_max: float, wait_s: float, look: Callable[[], float]) -> str:
    """Nothing to tell as soon as no more than that share is busy; after `wait_s` how busy it still
    is. `look`: raises Unknown."""
    attempts = Retrying(
        retry=retry_if_result(lambda share: share > share_max),
        stop=stop_after_delay(wait_s),
        wait=wait_fixed(AGAIN_S),
    )
    try:
        attempts(look)
    except RetryError as error:
        busy_share = f"{100 * error.last_attempt.result():.0f} % of this machine's cores were busy"
        return f"{busy_share} with something else for {wait_s:g} s, {100 * share_max:g} % may be"
    except Unknown as reason:
        return f"the load of this machine cannot be measured: {reason}"
    return ""


def pause(seconds: float) -> None:
    """What is measured takes its time: nothing is waited for."""
    time.sleep(seconds)  # noqa: TID251
