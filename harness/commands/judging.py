"""What `mqproof judge` does: files in, what is said of each out.

1. Every file is read before any verdict is told; all that is wrong with all of them is said at
   once, and nothing else.
2. A tool's own verdict stands beside ours for its own histories; beside one of ours, both tools'.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.analyse.history import WORDS, evidence
from harness.claims import claims
from harness.claims.judge import ClaimVerdict, exit_code
from harness.claims.judge import judge as judge_claims
from harness.histories import jepsen, neutral, openchaos, rows
from harness.histories.as_rows import rows_of
from harness.histories.declared import declaring, of_words
from harness.histories.explained import explained
from harness.histories.history import History, Told
from harness.plan.problems import PlanError, twice
from harness.report import judged as words

OURS, JEPSEN, OPENCHAOS = "mqproof", "jepsen", "openchaos"
_FOREIGN = {JEPSEN: jepsen, OPENCHAOS: openchaos}
_HINT = (
    "  nobody says what this broker promises: --declare durable=true --declare persistent=true "
    "--declare no_ack=false, or what is true of it"
)


@dataclass(frozen=True, slots=True)
class Read:
    """One file: its history, and as their rows where that is asked for."""

    file: str
    history: History
    rows: tuple[rows.Row, ...]
    tools: tuple[str, ...]  # whose verdicts go with it


@dataclass(frozen=True, slots=True)
class Judged:
    """One history: its verdicts, and what is said of them."""

    verdicts: tuple[ClaimVerdict, ...]
    said: dict[str, Any]
    lines: tuple[str, ...]


def judge_files(
    files: Sequence[Path], form: str, explain: bool, declare: Sequence[str] = ()
) -> tuple[list[Judged], int]:
    """What is said of each file, and the exit code over all; `declare`: words NAME=VALUE. Raises
    PlanError."""
    problems = twice("FILE", map(str, files))
    known: Mapping[str, Told] = {}
    try:
        known = of_words(declare, WORDS.declared)
    except PlanError as error:
        problems += error.problems
    judged: list[Judged] = []
    shipped = claims.shipped()
    for path in dict.fromkeys(files):
        try:
            read = _read(path, form, explain)
            read = replace(read, history=declaring(read.history, known, str(path)))
            judged.append(_judged(read, shipped, hint=form != OURS and not known))
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(problems)
    return judged, exit_code(one.verdicts for one in judged)


def last_line(judged: Sequence[Judged], code: int) -> str:
    return words.last_line([one.verdicts for one in judged], code)


def _read(path: Path, form: str, explain: bool) -> Read:
    if form == OURS:
        history = neutral.read(path, WORDS)
        tools = tuple(_FOREIGN) if explain else ()
        return Read(str(path), history, rows_of(history) if explain else (), tools)
    told = _FOREIGN[form].read(path)
    history = rows.history(_name(path), told, _FOREIGN[form].FORM)
    return Read(str(path), history, told, (form,) if explain else ())


def _name(path: Path) -> str:
    return path.name.split(".")[0] or path.name


def _judged(read: Read, shipped: tuple[claims.Claim, ...], *, hint: bool) -> Judged:
    found = evidence(read.history, read.file)
    verdicts = judge_claims(shipped, found)
    said = words.said(read.history, found, verdicts)
    theirs = [explained(tool, read.rows, said["counts"]) for tool in read.tools]
    lines = [*words.lines(read.history, found, verdicts, read.file), *_their_lines(theirs)]
    lines += [_HINT] if hint else []
    return Judged(verdicts, {**said, "theirs": theirs} if theirs else said, tuple(lines))


def _their_lines(theirs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in theirs:
        for checker, says in one["says"].items():
            told = ", ".join(f"{key} {value}" for key, value in says.items() if value != {})
            yield f"  {one['tool']} says, {checker}: {told}"
        for line in one["why"]:
            yield f"    {line}"
