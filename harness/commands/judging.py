"""What `mqproof judge` does: files in, what is said of each out.

1. Every file is read before any is judged; all that is wrong with all of them is said at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.analyse import claims
from harness.analyse.history import WORDS, evidence
from harness.analyse.judge import ClaimVerdict, exit_code
from harness.analyse.judge import judge as judge_claims
from harness.histories import neutral
from harness.histories.history import History
from harness.plan.problems import PlanError, Problem
from harness.report import judged as words


@dataclass(frozen=True, slots=True)
class Judged:
    """One history: its verdicts, and what is said of them."""

    verdicts: tuple[ClaimVerdict, ...]
    said: dict[str, Any]
    lines: tuple[str, ...]


def judge_files(files: Sequence[Path], form: str, explain: bool) -> tuple[list[Judged], int]:
    """What is said of each file, and the exit code over all. Raises PlanError."""
    problems: list[Problem] = []
    judged: list[Judged] = []
    shipped = claims.shipped()
    for path in files:
        try:
            history = neutral.read(path, WORDS)
            judged.append(_judged(history, path, shipped))
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(problems)
    return judged, exit_code(one.verdicts for one in judged)


def last_line(judged: Sequence[Judged], code: int) -> str:
    return words.last_line([one.verdicts for one in judged], code)


def _judged(history: History, path: Path, shipped: tuple[claims.Claim, ...]) -> Judged:
    found = evidence(history, str(path))
    verdicts = judge_claims(shipped, found)
    return Judged(
        verdicts,
        words.said(history, found, verdicts),
        tuple(words.lines(history, found, verdicts, str(path))),
    )
