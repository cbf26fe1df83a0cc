"""Judges histories of any tool: files in, verdicts and findings of each out.

1. Every file is read before any verdict is given. If some have mistakes, all mistakes are reported
   at once, and nothing else.
2. A tool's own verdict stands beside ours for its own histories; beside one of ours, both tools'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analyse.history import WORDS, evidence
from harness.claims import claims
from harness.claims.judge import judge
from harness.histories import jepsen, neutral, openchaos, rows
from harness.histories.as_rows import rows_of
from harness.histories.declared import declaring, of_words
from harness.histories.explained import explained
from harness.histories.history import FactValue, History, Words
from harness.judging import brought_claims, known_facts, own_claims
from harness.judging.own_claims import OwnClaims
from harness.plan.problems import PlanError, Problem, twice
from harness.report.judged import JudgedHistory

OURS, JEPSEN, OPENCHAOS = "mqproof", "jepsen", "openchaos"
EXPLAIN = "--explain"
_FOREIGN = {JEPSEN: jepsen, OPENCHAOS: openchaos}


@dataclass(frozen=True, slots=True)
class Read:
    """One file: its history, and the tool's own rows if requested."""

    file: str
    history: History
    rows: tuple[rows.Row, ...]
    tools: tuple[str, ...]  # whose verdicts go with it


def judge_files(
    files: Sequence[Path],
    form: str,
    explain: bool,
    declare: Sequence[str] = (),
    own: OwnClaims | None = None,
    unread: Sequence[Problem] = (),
) -> tuple[JudgedHistory, ...]:
    """Judge each file. `declare`: words NAME=VALUE; `own`: the user's own claims, `unread`: what
    is wrong with their file. Raise PlanError."""
    problems = [*twice("FILE", map(str, files)), *brought_claims.problems(), *unread]
    known: Mapping[str, FactValue] = {}
    try:
        known = of_words(declare, _words().declared)
    except PlanError as error:
        problems += error.problems
    judged: list[JudgedHistory] = []
    shipped = () if problems else own_claims.every([own] if own else [])
    for path in dict.fromkeys(files):
        try:
            read = _read(path, form, explain)
            read = replace(read, history=declaring(read.history, known, str(path)))
            judged.append(_judged(read, shipped, undeclared=form != OURS and not known))
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(problems)
    return tuple(judged)


def _words() -> Words:
    """Return the facts that a history may declare: mqproof's own, and those of packages."""
    brought = {name: fact.kind for name, fact in known_facts.brought().items()}
    return replace(WORDS, declared={**WORDS.declared, **brought})


def _read(path: Path, form: str, explain: bool) -> Read:
    if form == OURS:
        history = neutral.read(path, _words())
        tools = tuple(_FOREIGN) if explain else ()
        if tools and history.facts.consumer_groups:
            why = "other tools take what several consumer groups get for duplicates"
            raise PlanError([Problem(f"{path}: {EXPLAIN}", why, advice=f"leave {EXPLAIN} out")])
        return Read(str(path), history, rows_of(history) if explain else (), tools)
    foreign_rows = _FOREIGN[form].read(path)
    history = rows.history(_name(path), foreign_rows, _FOREIGN[form].FORM)
    return Read(str(path), history, foreign_rows, (form,) if explain else ())


def _name(path: Path) -> str:
    return path.name.split(".")[0] or path.name


def _judged(read: Read, shipped: tuple[claims.Claim, ...], *, undeclared: bool) -> JudgedHistory:
    found = evidence(read.history, read.file)
    verdicts = tuple(judge(claim, found) for claim in shipped)
    judged = JudgedHistory(read.file, read.history, found, verdicts, (), undeclared)
    theirs = [explained(tool, read.rows, judged.counts) for tool in read.tools]
    return replace(judged, theirs=tuple(theirs))
