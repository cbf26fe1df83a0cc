"""One experiment after another, until each cell of a matrix was judged often enough.

1. What ran is not played again: the folder shows what was judged.
2. The layout whose poorest cell has fewest judged runs comes first; a piece of it at a time.
3. A run that could not be judged is repeated, and the log says so; a cell UNJUDGED_MAX times in
   vain at most.
4. An experiment that leaves no run behind would leave none the next time: then the campaign ends.
5. An interrupt ends the experiment at hand as it ends any, and is waited for.
"""

import math
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from harness.campaigns import stored
from harness.campaigns.cells import Cell, Choice, deployment_of, matrix
from harness.campaigns.stored import CampaignRun, Knowledge
from harness.claims.claims import shipped
from harness.compare.expectations import Standing
from harness.judging.exits import NOTHING_JUDGED, Exit, Judge
from harness.plan.experiment import REPEATS_MAX
from harness.plan.problems import Problem
from harness.report.page.formats import plural
from harness.request.run_request import scenario
from harness.run import signals
from harness.systems.catalogue import load_layout, load_system
from harness.view.grouping import by_key

UNJUDGED_MAX = 3
PIECE_MAX = 100  # scenarios
SAID_MAX = 4000  # of what an experiment said where it ended otherwise, or could not begin
USUAL = (Exit.PASSED, Exit.FAILED, Exit.NOT_DECIDED)  # of one that was carried out
_MEANT = {
    Judge.EXPECTATIONS: {
        Exit.PASSED: "every verdict is as expectations.toml has it",
        Exit.FAILED: "a verdict is not as expectations.toml has it",
        Exit.NOT_DECIDED: "a verdict is in no entry of expectations.toml, or was not judged",
    },
    Judge.CLAIMS: {
        Exit.PASSED: "every promise held",
        Exit.FAILED: "a promise was broken: report.html says which",
        Exit.NOT_DECIDED: "a promise was not judged: report.html says why, and what to do",
    },
}

Log = Callable[[str], None]
Play = Callable[[Path, Sequence[str], Log], int]  # one experiment into a folder; its exit code


class Stuck(Exception):
    """An experiment left no run behind: which, and how it ended."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often each cell is to be judged, how long that may take, and how much comes at once."""

    repeats: int = 1
    minutes: float = 60
    piece: int = 6  # scenarios of one layout in an experiment

    def problems(self) -> Iterator[Problem]:
        if not 1 <= self.repeats <= REPEATS_MAX:
            yield Problem("--repeats", f"must be 1 to {REPEATS_MAX:,}, not {self.repeats:,}")
        if math.isnan(self.minutes) or self.minutes <= 0:
            yield Problem("--minutes", f"must be more than 0, not {self.minutes:g}; inf: no end")
        if not 1 <= self.piece <= PIECE_MAX:
            yield Problem("--piece", f"must be 1 to {PIECE_MAX:,}, not {self.piece:,}")


@dataclass(slots=True)
class Counts:
    """How often a cell was judged, and how often in vain."""

    judged: Counter[Cell] = field(default_factory=Counter)
    in_vain: Counter[Cell] = field(default_factory=Counter)

    def wants(self, cell: Cell, repeats: int) -> bool:
        return self.judged[cell] < repeats and self.in_vain[cell] < UNJUDGED_MAX


@dataclass(frozen=True, slots=True)
class Piece:
    """What is played next: some scenarios on one layout of one system."""

    system: str
    layout: str
    scenarios: tuple[str, ...]

    def words(self, deployment: str | None) -> list[str]:
        """Of `mqproof run`. `deployment` None: the system's own, or where its balancers stand."""
        by = deployment or self._other_deployment()
        words = [*self.scenarios, "--system", self.system, "--layout", self.layout]
        return words + (["--deployment", by] if by else [])

    def _other_deployment(self) -> str:
        system = load_system(self.system)
        by = deployment_of(system, load_layout(self.system, self.layout))
        return "" if by == system.deployments[0] else by


def counted(runs: Sequence[CampaignRun], knowledge: Knowledge) -> Counts:
    counts = Counts()
    for run in runs:
        cell = (run.scenario, run.system, run.layout)
        is_judged = knowledge.of([run]).standing is not Standing.NOT_JUDGED
        (counts.judged if is_judged else counts.in_vain)[cell] += 1
    return counts


def next_piece(cells: Sequence[Cell], counts: Counts, pace: Pace) -> Piece | None:
    """None where nothing is left.

    What may leave a cluster altered (operations, a host that its peers give up) is played last.
    """
    wanted = (cell for cell in cells if counts.wants(cell, pace.repeats))
    poor = by_key(sorted(wanted, key=lambda one: counts.judged[one]), lambda cell: cell[1:])
    for (system, layout), own in poor.items():
        names = [name for name, *_ in own[: pace.piece]]
        return Piece(system, layout, tuple(sorted(names, key=_alters)))
    return None


def once_more(piece: Piece, counts: Counts) -> Iterator[str]:
    """What is played again, for nothing is repeated silently."""
    for name in piece.scenarios:
        if in_vain := counts.in_vain[name, piece.system, piece.layout]:
            runs = plural(in_vain, "run")
            yield f"{name} on {piece.layout}: {runs} not judged so far; repeating it"


def counted_in(folder: Path) -> Counts:
    """What a folder tells; one that is not there tells nothing. Raises PlanError."""
    runs = stored.found(folder) if folder.exists() else []
    return counted(runs, Knowledge(shipped()))


def carry_out(folder: Path, choice: Choice, pace: Pace, play: Play, log: Log) -> bool:
    """Whether each cell was judged often enough when time was up, or before; `folder` is there.
    Raises Stuck."""
    cells, knowledge = matrix(choice).cells, Knowledge(shipped())
    ends = time.monotonic() + 60 * pace.minutes
    runs = stored.found(folder)
    while time.monotonic() < ends:
        counts = counted(runs, knowledge)
        piece = next_piece(cells, counts, pace)
        if piece is None:
            break
        for again in once_more(piece, counts):
            log(again)
        before, words = len(runs), piece.words(choice.deployment)
        code = play(folder, words, log)
        runs = stored.found(folder)
        if len(runs) == before:
            raise Stuck(f"mqproof run {shlex.join(words)} left no run behind (exit code {code})")
    counts = counted(runs, knowledge)
    for line in standing(cells, counts, pace):
        log(line)
    return all(counts.judged[cell] >= pace.repeats for cell in cells)


def standing(cells: Sequence[Cell], counts: Counts, pace: Pace) -> Iterator[str]:
    """Yield how far a campaign is: cells done, cells to do, cells given up."""
    done = sum(counts.judged[cell] >= pace.repeats for cell in cells)
    times = "once" if pace.repeats == 1 else f"{pace.repeats} times"
    every = "1 cell was" if len(cells) == 1 else f"{len(cells)} cells were"
    yield f"{done} of {every} judged {times}"
    for cell in cells:
        if counts.judged[cell] < pace.repeats and counts.in_vain[cell] >= UNJUDGED_MAX:
            name, system, layout = cell
            vain = counts.in_vain[cell]
            yield f"given up: {name} on {layout} of {system}: {vain} runs were not judged"


def outlook(cells: Sequence[Cell], counts: Counts, choice: Choice, pace: Pace) -> Iterator[str]:
    """What would be played, and what first."""
    yield from standing(cells, counts, pace)
    left = (cell for cell in cells if counts.wants(cell, pace.repeats))
    for (system, layout), own in by_key(left, lambda cell: cell[1:]).items():
        names = (f"{cell[0]} ({counts.judged[cell]} of {pace.repeats})" for cell in own)
        yield f"left on {layout} of {system}: {', '.join(names)}"
    piece = next_piece(cells, counts, pace)
    if piece is None:
        yield "nothing is left to play"
    else:
        yield f"next: mqproof run {shlex.join(piece.words(choice.deployment))}"


def play(
    folder: Path,
    words: Sequence[str],
    log: Log,
    more: Sequence[str] = (),
    judge: Judge = Judge.EXPECTATIONS,
) -> int:
    """Play one experiment. `more`: arguments that the log does not show. Raises KeyboardInterrupt
    once it has ended."""
    own = ["--judge", judge, "--results", str(folder)]
    return carried_out(["run", *words, *own, *more], shlex.join(words), log, _MEANT[judge])


def carried_out(
    words: Sequence[str], name: str, log: Log, meant: Mapping[Exit, str] = MappingProxyType({})
) -> int:
    """Run a command of ours in its own process. If its exit code is unusual, log its error output.
    `meant`: the reasons of exit codes. Raises KeyboardInterrupt once it has ended."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        code, interrupted = _ended([sys.executable, "-m", "harness", *words], said.fileno())
        said.seek(0)
        text = said.read().decode(errors="replace")
    reason = meant.get(Exit(code), "") if code in USUAL else ""
    after = f" ({reason})" if reason else ""
    log(f"{name}: {time.monotonic() - began:.0f} s, exit code {code}{after}")
    if interrupted or code == Exit.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in USUAL or NOTHING_JUDGED in text:
        for line in text[-SAID_MAX:].splitlines():
            log(f"  {line}")
    return code


def _ended(command: Sequence[str], said: int) -> tuple[int, bool]:
    """The exit code, and whether we were interrupted. It has a session of its own, so that it
    hears of an interrupt from us alone, and as often as we do."""
    child: subprocess.Popen[bytes] | None = None
    interrupts: list[bool] = []  # an entry an interrupt: whether there was anybody to tell

    def forward() -> None:
        interrupts.append(child is not None)
        if child is not None:
            child.send_signal(signal.SIGINT)

    with signals.handled(forward):
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
        )
        if False in interrupts:
            child.send_signal(signal.SIGINT)
        return child.wait(), bool(interrupts)


def _alters(name: str) -> bool:
    played = scenario(name)
    return bool(played.operations) or any(one.kind.silences_peers for one in played.faults)
